// SPDX-License-Identifier: Apache-2.0

internal import PGClient
internal import WebhookSigning

/// Checks whether jobs request webhooks that a worker with these flags could not sign.
enum WebhookCheckup {
    /// Reads only the last 10,000 jobs and the last 10,000 failed jobs.
    private enum Column: Int, PGColumn {
        case areRequested, refused

        var sql: StaticString {
            switch self {
            case .areRequested:
                """
                exists (
                  select from (select j.callback_url from postrider.jobs j order by j.id desc limit 10000) j
                    where j.callback_url is not null) as are_requested
                """
            case .refused:
                """
                (select count(*)
                 from (select r.job_id, r.error_code from postrider_internal.results r
                       where postrider_internal.is_failure(r.state) and r.finished_at > now() - interval '1 day'
                       order by r.finished_at desc, r.job_id desc limit 10000) f
                 -- The limit forces a look-up by key, even if the statistics of webhooks are wrong.
                 cross join lateral (select from postrider_internal.webhooks w where w.job_id = f.job_id limit 1) w
                 where f.error_code = 'config') as refused
                """
            }
        }
    }

    /// The finding about missing keys; nil if none is needed.
    static func finding(_ connection: borrowing PGConnection, keys: WebhookKeys?) throws(PGError) -> Finding? {
        guard keys == nil else { return nil }
        let answer = try connection.query("select \(Column.selectList)")
        let refused = answer.int64(0, Column.refused)
        guard refused > 0 || answer.bool(0, Column.areRequested) else { return nil }
        let remedy =
            "set POSTRIDER_WEBHOOK_SECRET as on the other workers, or give --\(WebhookSecrets.source.flag.name)"
        guard refused > 0 else {
            return Finding(
                .notice, "webhooks",
                "jobs have a callback_url, but no secret is set here to sign their webhooks, "
                    + "so they fail with config; \(remedy)")
        }
        return Finding(
            .notice, "webhooks",
            "\(refused) failed with config within a day, and no secret is set here to sign them; \(remedy); "
                + "then run: select postrider.retry_failed(error_code => 'config', since => now() - interval '1 day')")
    }
}
