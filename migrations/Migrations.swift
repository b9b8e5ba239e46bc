// SPDX-License-Identifier: Apache-2.0

/// One SQL file of this folder, as the binary carries it.
public struct MigrationFile: Equatable, Sendable {
    /// How a file is applied.
    public enum Kind: Equatable, Sendable {
        /// Once, in the order of the numbers; never changes after a release.
        case numbered
        /// Again whenever it changes, after the numbered files.
        case function
        /// Again whenever it changes, after the functions.
        case view
    }

    /// The path inside this folder: `0001_schema.sql`, `functions/claim.sql`. This is the identity in the database.
    public let name: String
    /// How it is applied.
    public let kind: Kind
    /// The text, UTF-8.
    public let bytes: [UInt8]

    /// A file; the kind follows from the folder in its name.
    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        kind = name.hasPrefix("functions/") ? .function : name.hasPrefix("views/") ? .view : .numbered
    }
}

/// All files of this folder. A test compares the list with the folder, so that none is forgotten.
public enum Migrations {
    /// In the order of the names; `-- after:` headers are looked at by the migrator.
    public static let all = numbered + functions + views

    private static let numbered = [
        MigrationFile(name: "0001_schema.sql", bytes: PackageResources._001_schema_sql),
        MigrationFile(name: "0002_services.sql", bytes: PackageResources._002_services_sql),
        MigrationFile(name: "0003_cache.sql", bytes: PackageResources._003_cache_sql),
        MigrationFile(name: "0004_progress.sql", bytes: PackageResources._004_progress_sql),
        MigrationFile(name: "0005_trees.sql", bytes: PackageResources._005_trees_sql),
        MigrationFile(name: "0007_callbacks.sql", bytes: PackageResources._007_callbacks_sql),
    ]

    private static let functions = [
        MigrationFile(name: "functions/admit_job.sql", bytes: PackageResources.admit_job_sql),
        MigrationFile(name: "functions/answer_charset.sql", bytes: PackageResources.answer_charset_sql),
        MigrationFile(name: "functions/answer_defect.sql", bytes: PackageResources.answer_defect_sql),
        MigrationFile(name: "functions/answer_text.sql", bytes: PackageResources.answer_text_sql),
        MigrationFile(name: "functions/beat.sql", bytes: PackageResources.beat_sql),
        MigrationFile(name: "functions/begin_job.sql", bytes: PackageResources.begin_job_sql),
        MigrationFile(name: "functions/begin_member.sql", bytes: PackageResources.begin_member_sql),
        MigrationFile(name: "functions/begin_tree.sql", bytes: PackageResources.begin_tree_sql),
        MigrationFile(name: "functions/cache_confirmed.sql", bytes: PackageResources.cache_confirmed_sql),
        MigrationFile(name: "functions/cache_control.sql", bytes: PackageResources.cache_control_sql),
        MigrationFile(name: "functions/cache_digest.sql", bytes: PackageResources.cache_digest_sql),
        MigrationFile(name: "functions/cache_drop.sql", bytes: PackageResources.cache_drop_sql),
        MigrationFile(name: "functions/cache_evict.sql", bytes: PackageResources.cache_evict_sql),
        MigrationFile(name: "functions/cache_invalidate.sql", bytes: PackageResources.cache_invalidate_sql),
        MigrationFile(name: "functions/cache_join.sql", bytes: PackageResources.cache_join_sql),
        MigrationFile(name: "functions/cache_keep.sql", bytes: PackageResources.cache_keep_sql),
        MigrationFile(name: "functions/cache_key.sql", bytes: PackageResources.cache_key_sql),
        MigrationFile(name: "functions/cache_merge.sql", bytes: PackageResources.cache_merge_sql),
        MigrationFile(name: "functions/cache_outdate.sql", bytes: PackageResources.cache_outdate_sql),
        MigrationFile(name: "functions/cache_put.sql", bytes: PackageResources.cache_put_sql),
        MigrationFile(name: "functions/cache_reason.sql", bytes: PackageResources.cache_reason_sql),
        MigrationFile(name: "functions/cache_release.sql", bytes: PackageResources.cache_release_sql),
        MigrationFile(name: "functions/cache_serve.sql", bytes: PackageResources.cache_serve_sql),
        MigrationFile(name: "functions/cache_settle.sql", bytes: PackageResources.cache_settle_sql),
        MigrationFile(name: "functions/cache_spec.sql", bytes: PackageResources.cache_spec_sql),
        MigrationFile(name: "functions/cache_stale.sql", bytes: PackageResources.cache_stale_sql),
        MigrationFile(name: "functions/cache_store.sql", bytes: PackageResources.cache_store_sql),
        MigrationFile(name: "functions/cache_tag.sql", bytes: PackageResources.cache_tag_sql),
        MigrationFile(name: "functions/cache_validators.sql", bytes: PackageResources.cache_validators_sql),
        MigrationFile(name: "functions/cache_variant.sql", bytes: PackageResources.cache_variant_sql),
        MigrationFile(name: "functions/call_headers.sql", bytes: PackageResources.call_headers_sql),
        MigrationFile(name: "functions/call_query.sql", bytes: PackageResources.call_query_sql),
        MigrationFile(name: "functions/callable.sql", bytes: PackageResources.callable_sql),
        MigrationFile(name: "functions/callables.sql", bytes: PackageResources.callables_sql),
        MigrationFile(name: "functions/callables_check.sql", bytes: PackageResources.callables_check_sql),
        MigrationFile(name: "functions/cancel.sql", bytes: PackageResources.cancel_sql),
        MigrationFile(name: "functions/cancel_all.sql", bytes: PackageResources.cancel_all_sql),
        MigrationFile(name: "functions/cancel_tree.sql", bytes: PackageResources.cancel_tree_sql),
        MigrationFile(name: "functions/charset_encoding.sql", bytes: PackageResources.charset_encoding_sql),
        MigrationFile(name: "functions/claim.sql", bytes: PackageResources.claim_sql),
        MigrationFile(name: "functions/conclude.sql", bytes: PackageResources.conclude_sql),
        MigrationFile(name: "functions/conclude_one.sql", bytes: PackageResources.conclude_one_sql),
        MigrationFile(name: "functions/content_type.sql", bytes: PackageResources.content_type_sql),
        MigrationFile(name: "functions/count_members.sql", bytes: PackageResources.count_members_sql),
        MigrationFile(name: "functions/end_below.sql", bytes: PackageResources.end_below_sql),
        MigrationFile(name: "functions/end_job.sql", bytes: PackageResources.end_job_sql),
        MigrationFile(name: "functions/end_tree.sql", bytes: PackageResources.end_tree_sql),
        MigrationFile(name: "functions/enlist.sql", bytes: PackageResources.enlist_sql),
        MigrationFile(name: "functions/envelope_defect.sql", bytes: PackageResources.envelope_defect_sql),
        MigrationFile(name: "functions/envelope_outcome.sql", bytes: PackageResources.envelope_outcome_sql),
        MigrationFile(name: "functions/expand_tree.sql", bytes: PackageResources.expand_tree_sql),
        MigrationFile(name: "functions/expire.sql", bytes: PackageResources.expire_sql),
        MigrationFile(name: "functions/explain.sql", bytes: PackageResources.explain_sql),
        MigrationFile(name: "functions/explain_member.sql", bytes: PackageResources.explain_member_sql),
        MigrationFile(name: "functions/extend_partitions.sql", bytes: PackageResources.extend_partitions_sql),
        MigrationFile(name: "functions/extract_is_plural.sql", bytes: PackageResources.extract_is_plural_sql),
        MigrationFile(name: "functions/feed.sql", bytes: PackageResources.feed_sql),
        MigrationFile(name: "functions/feed_job.sql", bytes: PackageResources.feed_job_sql),
        MigrationFile(name: "functions/feed_next.sql", bytes: PackageResources.feed_next_sql),
        MigrationFile(name: "functions/finish.sql", bytes: PackageResources.finish_sql),
        MigrationFile(name: "functions/fold.sql", bytes: PackageResources.fold_sql),
        MigrationFile(name: "functions/forbids_store.sql", bytes: PackageResources.forbids_store_sql),
        MigrationFile(name: "functions/form_pairs.sql", bytes: PackageResources.form_pairs_sql),
        MigrationFile(name: "functions/has_endless_numbers.sql", bytes: PackageResources.has_endless_numbers_sql),
        MigrationFile(name: "functions/header_value.sql", bytes: PackageResources.header_value_sql),
        MigrationFile(name: "functions/headers_defect.sql", bytes: PackageResources.headers_defect_sql),
        MigrationFile(name: "functions/headers_json.sql", bytes: PackageResources.headers_json_sql),
        MigrationFile(name: "functions/host_is_plain.sql", bytes: PackageResources.host_is_plain_sql),
        MigrationFile(name: "functions/http_freshness.sql", bytes: PackageResources.http_freshness_sql),
        MigrationFile(name: "functions/http_time.sql", bytes: PackageResources.http_time_sql),
        MigrationFile(name: "functions/is_hooked.sql", bytes: PackageResources.is_hooked_sql),
        MigrationFile(name: "functions/is_html.sql", bytes: PackageResources.is_html_sql),
        MigrationFile(name: "functions/job_defect.sql", bytes: PackageResources.job_defect_sql),
        MigrationFile(name: "functions/job_is_followed.sql", bytes: PackageResources.job_is_followed_sql),
        MigrationFile(name: "functions/job_is_good.sql", bytes: PackageResources.job_is_good_sql),
        MigrationFile(name: "functions/job_is_regular.sql", bytes: PackageResources.job_is_regular_sql),
        MigrationFile(name: "functions/job_is_rich.sql", bytes: PackageResources.job_is_rich_sql),
        MigrationFile(name: "functions/job_lane.sql", bytes: PackageResources.job_lane_sql),
        MigrationFile(name: "functions/job_url.sql", bytes: PackageResources.job_url_sql),
        MigrationFile(name: "functions/jobs_feed.sql", bytes: PackageResources.jobs_feed_sql),
        MigrationFile(name: "functions/jobs_keep.sql", bytes: PackageResources.jobs_keep_sql),
        MigrationFile(name: "functions/join_tree.sql", bytes: PackageResources.join_tree_sql),
        MigrationFile(name: "functions/json_path_key.sql", bytes: PackageResources.json_path_key_sql),
        MigrationFile(name: "functions/json_strings.sql", bytes: PackageResources.json_strings_sql),
        MigrationFile(name: "functions/jsonpath_defect.sql", bytes: PackageResources.jsonpath_defect_sql),
        MigrationFile(name: "functions/judge.sql", bytes: PackageResources.judge_sql),
        MigrationFile(name: "functions/judge_answer.sql", bytes: PackageResources.judge_answer_sql),
        MigrationFile(name: "functions/keep_cookies.sql", bytes: PackageResources.keep_cookies_sql),
        MigrationFile(name: "functions/lead.sql", bytes: PackageResources.lead_sql),
        MigrationFile(name: "functions/leads.sql", bytes: PackageResources.leads_sql),
        MigrationFile(name: "functions/leave.sql", bytes: PackageResources.leave_sql),
        MigrationFile(name: "functions/let_go.sql", bytes: PackageResources.let_go_sql),
        MigrationFile(name: "functions/make_tracks.sql", bytes: PackageResources.make_tracks_sql),
        MigrationFile(name: "functions/members_ended.sql", bytes: PackageResources.members_ended_sql),
        MigrationFile(name: "functions/milliseconds.sql", bytes: PackageResources.milliseconds_sql),
        MigrationFile(name: "functions/move_outcomes.sql", bytes: PackageResources.move_outcomes_sql),
        MigrationFile(name: "functions/pairs.sql", bytes: PackageResources.pairs_sql),
        MigrationFile(name: "functions/pairs_defect.sql", bytes: PackageResources.pairs_defect_sql),
        MigrationFile(name: "functions/part_bodies.sql", bytes: PackageResources.part_bodies_sql),
        MigrationFile(name: "functions/part_texts.sql", bytes: PackageResources.part_texts_sql),
        MigrationFile(name: "functions/parts_defect.sql", bytes: PackageResources.parts_defect_sql),
        MigrationFile(name: "functions/path_defect.sql", bytes: PackageResources.path_defect_sql),
        MigrationFile(name: "functions/path_value.sql", bytes: PackageResources.path_value_sql),
        MigrationFile(name: "functions/plant.sql", bytes: PackageResources.plant_sql),
        MigrationFile(name: "functions/prepare.sql", bytes: PackageResources.prepare_sql),
        MigrationFile(name: "functions/promote.sql", bytes: PackageResources.promote_sql),
        MigrationFile(name: "functions/put_off.sql", bytes: PackageResources.put_off_sql),
        MigrationFile(name: "functions/put_off_next.sql", bytes: PackageResources.put_off_next_sql),
        MigrationFile(name: "functions/ready_place.sql", bytes: PackageResources.ready_place_sql),
        MigrationFile(name: "functions/reap.sql", bytes: PackageResources.reap_sql),
        MigrationFile(name: "functions/rearm_tree.sql", bytes: PackageResources.rearm_tree_sql),
        MigrationFile(name: "functions/refuse.sql", bytes: PackageResources.refuse_sql),
        MigrationFile(name: "functions/refuse_misconfigured.sql", bytes: PackageResources.refuse_misconfigured_sql),
        MigrationFile(name: "functions/rejoin_tree.sql", bytes: PackageResources.rejoin_tree_sql),
        MigrationFile(name: "functions/reopen_job.sql", bytes: PackageResources.reopen_job_sql),
        MigrationFile(name: "functions/report_progress.sql", bytes: PackageResources.report_progress_sql),
        MigrationFile(name: "functions/requeue.sql", bytes: PackageResources.requeue_sql),
        MigrationFile(name: "functions/rerun_callback.sql", bytes: PackageResources.rerun_callback_sql),
        MigrationFile(name: "functions/reschedule.sql", bytes: PackageResources.reschedule_sql),
        MigrationFile(name: "functions/result_json.sql", bytes: PackageResources.result_json_sql),
        MigrationFile(name: "functions/retry.sql", bytes: PackageResources.retry_sql),
        MigrationFile(name: "functions/retry_delay.sql", bytes: PackageResources.retry_delay_sql),
        MigrationFile(name: "functions/retry_tree.sql", bytes: PackageResources.retry_tree_sql),
        MigrationFile(name: "functions/run_callable.sql", bytes: PackageResources.run_callable_sql),
        MigrationFile(name: "functions/send_webhooks.sql", bytes: PackageResources.send_webhooks_sql),
        MigrationFile(name: "functions/service_defect.sql", bytes: PackageResources.service_defect_sql),
        MigrationFile(name: "functions/services_check.sql", bytes: PackageResources.services_check_sql),
        MigrationFile(name: "functions/set_idle.sql", bytes: PackageResources.set_idle_sql),
        MigrationFile(name: "functions/settle.sql", bytes: PackageResources.settle_sql),
        MigrationFile(name: "functions/settle_tree.sql", bytes: PackageResources.settle_tree_sql),
        MigrationFile(name: "functions/shut_idle_gate.sql", bytes: PackageResources.shut_idle_gate_sql),
        MigrationFile(name: "functions/state_name.sql", bytes: PackageResources.state_name_sql),
        MigrationFile(name: "functions/status_bounds.sql", bytes: PackageResources.status_bounds_sql),
        MigrationFile(name: "functions/submit.sql", bytes: PackageResources.submit_sql),
        MigrationFile(name: "functions/survey.sql", bytes: PackageResources.survey_sql),
        MigrationFile(name: "functions/take_aborts.sql", bytes: PackageResources.take_aborts_sql),
        MigrationFile(name: "functions/tell_finished.sql", bytes: PackageResources.tell_finished_sql),
        MigrationFile(name: "functions/template_defect.sql", bytes: PackageResources.template_defect_sql),
        MigrationFile(name: "functions/template_names.sql", bytes: PackageResources.template_names_sql),
        MigrationFile(name: "functions/template_parts.sql", bytes: PackageResources.template_parts_sql),
        MigrationFile(name: "functions/template_path.sql", bytes: PackageResources.template_path_sql),
        MigrationFile(name: "functions/template_paths.sql", bytes: PackageResources.template_paths_sql),
        MigrationFile(name: "functions/tend.sql", bytes: PackageResources.tend_sql),
        MigrationFile(name: "functions/tend_cache.sql", bytes: PackageResources.tend_cache_sql),
        MigrationFile(name: "functions/tls_defect.sql", bytes: PackageResources.tls_defect_sql),
        MigrationFile(name: "functions/tree_defect.sql", bytes: PackageResources.tree_defect_sql),
        MigrationFile(name: "functions/trees_begin.sql", bytes: PackageResources.trees_begin_sql),
        MigrationFile(name: "functions/try_jsonb.sql", bytes: PackageResources.try_jsonb_sql),
        MigrationFile(name: "functions/url_defect.sql", bytes: PackageResources.url_defect_sql),
        MigrationFile(name: "functions/url_is_regular.sql", bytes: PackageResources.url_is_regular_sql),
        MigrationFile(name: "functions/url_join.sql", bytes: PackageResources.url_join_sql),
        MigrationFile(name: "functions/url_lane.sql", bytes: PackageResources.url_lane_sql),
        MigrationFile(name: "functions/url_shown.sql", bytes: PackageResources.url_shown_sql),
        MigrationFile(name: "functions/utf16_text.sql", bytes: PackageResources.utf16_text_sql),
        MigrationFile(name: "functions/validator_defect.sql", bytes: PackageResources.validator_defect_sql),
        MigrationFile(name: "functions/validator_mismatch.sql", bytes: PackageResources.validator_mismatch_sql),
        MigrationFile(name: "functions/validator_path.sql", bytes: PackageResources.validator_path_sql),
        MigrationFile(name: "functions/wake.sql", bytes: PackageResources.wake_sql),
        MigrationFile(name: "functions/wants_fresh.sql", bytes: PackageResources.wants_fresh_sql),
    ]

    private static let views = [
        MigrationFile(name: "views/attempts.sql", bytes: PackageResources.attempts_sql),
        MigrationFile(name: "views/cache_status.sql", bytes: PackageResources.cache_status_sql),
        MigrationFile(name: "views/callback_errors.sql", bytes: PackageResources.callback_errors_sql),
        MigrationFile(name: "views/job_status.sql", bytes: PackageResources.job_status_sql),
        MigrationFile(name: "views/queue_status.sql", bytes: PackageResources.queue_status_sql),
        MigrationFile(name: "views/recent_failures.sql", bytes: PackageResources.recent_failures_sql),
        MigrationFile(name: "views/worker_status.sql", bytes: PackageResources.worker_status_sql),
    ]
}
