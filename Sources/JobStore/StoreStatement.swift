// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// The statements of a running worker. Most call the function of the same name in `postrider_internal`.
///
/// `claimOne` has a file of its own.
public enum StoreStatement {
    /// Registers the worker, or registers it again.
    public static let enlist = PGStatement(
        "enlist", EnlistColumn.self,
        "from postrider_internal.enlist($1,$2,$3,$4,$5,$6,$7,$8,$9,$10::uuid,$11::uuid,$12)")
    /// Leases ready jobs.
    public static let claim = PGStatement(
        "claim", ClaimColumn.self, "from postrider_internal.claim($1,$2,$3,$4,$5,$6,$7,$8,$9)")
    /// Stores the results of attempts.
    public static let finish = PGStatement(
        "finish", FinishColumn.self, "from postrider_internal.finish($1,$2,$3)")
    /// Limits each wait for a lock to 20 ms in this transaction. The worker sends it while another transaction holds
    /// rows of running jobs.
    public static let shortLockTimeout = PGStatement(
        "short_lock_timeout", "select set_config('lock_timeout', '20ms', true)")
    /// Returns which leases are locked.
    public static let lockedLeases = PGStatement(
        "locked_leases", value: "postrider_internal.locked_leases($1,$2,$3,$4)")
    /// Builds the calls of claimed jobs that need more than their row.
    public static let prepare = PGStatement(
        "prepare", PrepareColumn.self, "from postrider_internal.prepare($1,$2,$3,$4,$5,$6,$7,$8,$9,p_traces_all=>$10)")
    /// Judges attempts and stores their results.
    public static let judge = PGStatement(
        "judge", FinishColumn.self, "from postrider_internal.judge($1,$2,$3)")
    /// Judges one attempt on the judging session.
    public static let judgeAlone = PGStatement(
        "judge_alone", FinishColumn.self, "from postrider_internal.judge_alone($1,$2,$3)")
    /// Judges a cached answer on the judging session.
    public static let judgeCached = PGStatement(
        "judge_cached", FinishColumn.self, "from postrider_internal.judge_cached($1,$2,$3,$4,$5,$6,$7)")
    /// Begins members of one batch or chain whose start is expensive, on the judging session.
    public static let judgeTree = PGStatement(
        "judge_tree", JudgeTreeColumn.self, "from postrider_internal.judge_tree($1)")
    /// Sets the time limit of the next statement in this transaction, and limits each wait for a lock to 1 s.
    public static let limitJudging = PGStatement(
        "limit_judging",
        """
        select \(SearchPath.localExpression), set_config('statement_timeout', $1, true), \
        set_config('lock_timeout', '1s', true), \(TransactionTimeout.off(isLocal: true))
        """)
    /// Finds tracks with work.
    public static let survey = PGStatement(
        "survey", SurveyColumn.self, "from postrider_internal.survey($1,$2,$3,$4,$5,$6,$7,$8,$9)")
    /// Acquires permits and rate slots of lanes with limits.
    public static let acquireLanePermits = PGStatement(
        "acquire_lane_permits", PermitColumn.self, "from postrider_internal.acquire_lane_permits($1,$2,$3,$4,$5)")
    /// Heartbeat. Also returns the end of the WAL on disk. The next heartbeat passes it on, to detect a restore. An idle
    /// worker counts the workers of its queues.
    public static let beat = PGStatement("beat", BeatColumn.self, "from postrider_internal.count_peers($1,$13)")
    /// Makes the jobs session receive notifications again.
    public static let listen = PGStatement("listen", "listen postrider")
    /// Makes the jobs session receive no more notifications.
    public static let unlisten = PGStatement("unlisten", "unlisten postrider")
    /// Turns notifications about INSERTs on or off.
    public static let setIdle = PGStatement("set_idle", value: "postrider_internal.set_idle($1,$2)")
    /// Takes the list of cancelled calls, and empties it.
    public static let takeAborts = PGStatement(
        "take_aborts", AbortColumn.self, "from postrider_internal.take_aborts($1)")
    /// Stores the state of long calls.
    public static let reportCalls = PGStatement(
        "report_calls", value: "postrider_internal.report_calls($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13)")
    /// Settles ended members of batches and chains.
    public static let settle = PGStatement(
        "settle", SettleColumn.self, "from postrider_internal.settle($1,$2,$3)")
    /// Gives users' functions 5 s in this transaction, and the transaction itself no limit.
    ///
    /// It also sets the search_path again, because a function that ends restores the role's path.
    public static let limitTime = PGStatement(
        "limit_time",
        """
        select \(SearchPath.localExpression), set_config('statement_timeout', '5s', true),
               \(TransactionTimeout.off(isLocal: true))
        """)
    /// Runs the hooks of a job before its call, and returns whether the job is still to be called.
    public static let beginJob = PGStatement("begin_job", value: "postrider_internal.begin_job($1,$2,$3,$4,$5)")
    /// Concludes jobs that have ended.
    public static let conclude = PGStatement(
        "conclude", ConcludeColumn.self, "from postrider_internal.conclude($1)")
    /// Defers the job that could not be concluded.
    public static let deferNextOutcome = PGStatement(
        "defer_next_outcome", value: "postrider_internal.defer_next_outcome($1)")
    /// Ends another session of this worker. The condition is the role, because a user's function may have changed the
    /// session's `application_name`.
    public static let endSession = PGStatement(
        "end_session", value: "pg_terminate_backend(a.pid)",
        """
        from pg_catalog.pg_stat_activity a where a.pid = $1 \
        and a.pid <> pg_backend_pid() and a.usename = session_user
        """)
    /// Ends the silent session that this one replaces, which has the same `application_name`.
    ///
    /// It is a text without parameters, because it runs among the statements that set a session up.
    public static func terminationSQL(_ process: Int32) -> String {
        """
        select pg_terminate_backend(a.pid) from pg_catalog.pg_stat_activity a where a.pid = \(process) \
        and a.pid <> pg_backend_pid() and a.usename = session_user \
        and a.application_name = current_setting('application_name')
        """
    }
    /// Returns the process of another session of this worker if it has waited for a statement for 2 s.
    public static let idleProcess = PGStatement(
        "idle_process", value: "a.pid",
        """
        from pg_catalog.pg_stat_activity a where a.pid = $1 and a.usename = session_user \
        and a.state like 'idle%' and a.state_change < clock_timestamp() - interval '2 s'
        """)
    /// Returns which work is left. A worker with `--once` ends after the last job.
    public static let workLeft = PGStatement("work_left", value: "postrider_internal.work_left($1)")
    /// Signs the worker off.
    public static let leave = PGStatement("leave", value: "postrider_internal.leave($1)")
    /// Takes or renews the leader's lease.
    public static let lead = PGStatement("lead", value: "postrider_internal.lead($1)")
    /// Runs the leader's frequent duties: promoting and feeding.
    public static let runQueueDuties = PGStatement(
        "run_queue_duties", QueueDutiesColumn.self, "from postrider_internal.run_queue_duties($1,$2,$3)")
    /// Inserts the jobs of at most 100 due schedules.
    public static let tick = PGStatement(
        "tick", TickColumn.self, "from postrider_internal.run_schedules($1,$2,$3,100)")
    /// Declares silent workers lost.
    public static let reap = PGStatement(
        "reap", ReapColumn.self, "from postrider_internal.reap($1,$2)")
    /// Ends jobs whose `expires_at` has passed: within the last 10 s, or with $3 at any time. At most 10,000 ready and
    /// 10,000 scheduled ones.
    public static let expire = PGStatement(
        "expire",
        value: "postrider_internal.expire($1, $2, case when not $3 then now() - interval '10 s' end, 10000)")
    /// Folds at most 10,000 rows of counters, and returns jobs that have failed.
    public static let fold = PGStatement(
        "fold", FoldColumn.self, "from postrider_internal.fold($1,$2,$3,10000)")
    /// Takes at most 10,000 rows of ends that no worker has counted.
    public static let takeUnreportedEnds = PGStatement(
        "take_unreported_ends", UnreportedEndColumn.self,
        "from postrider_internal.take_unreported_ends($1,$2,$3,10000)")
    /// Returns the labels of tracks for the metrics.
    public static let trackLabels = PGStatement(
        "track_labels", TrackLabelColumn.self, "from postrider_internal.track_labels($1)")
    /// Removes tracks that have had no rows for a day, out of the next 2,000 tracks.
    public static let removeTracks = PGStatement(
        "remove_tracks", RemoveTracksColumn.self, "from postrider_internal.remove_tracks($1,$2,$3,2000)")
    /// Returns credential tasks, and leases a refresh.
    public static let nextCredentialTasks = PGStatement(
        "next_credential_tasks", CredentialTaskColumn.self,
        "from postrider_internal.next_credential_tasks($1,$2,$3,$4)")
    /// Stores sealed secrets.
    public static let storeSealedSecrets = PGStatement(
        "store_sealed_secrets", value: "postrider_internal.store_sealed_secrets($1,$2,$3)")
    /// Reads the answer of a token endpoint.
    public static let readRefreshAnswer = PGStatement(
        "read_refresh_answer", RefreshAnswerColumn.self,
        "from postrider_internal.read_refresh_answer($1,$2,$3,$4)")
    /// Stores the result of a refresh. Null if the credential's row is locked.
    public static let storeRefresh = PGStatement(
        "store_refresh", value: "postrider_internal.store_refresh($1,$2,$3,$4::\"char\",$5,$6,$7,$8,$9)")
    /// Returns the facts for the spans of ended jobs.
    public static let takeEndedSpans = PGStatement(
        "take_ended_spans", EndedSpanColumn.self, "from postrider_internal.take_ended_spans($1,$2,$3)")
    /// Adds partitions.
    public static let extendPartitions = PGStatement("extend", value: "postrider_internal.extend_partitions($1,$2)")
    /// Deletes jobs after their retention.
    public static let prune = PGStatement("prune", PruneColumn.self, "from postrider_internal.prune($1,$2)")

    /// All statements. A test prepares each of them and compares its columns.
    public static let all = [
        enlist, claim, claimOne, finish, shortLockTimeout, lockedLeases, prepare, judge, judgeAlone, judgeCached,
        judgeTree, limitJudging, survey, acquireLanePermits, beat, listen, unlisten, setIdle, takeAborts, reportCalls,
        settle,
        limitTime, beginJob, conclude, deferNextOutcome, endSession, idleProcess, workLeft, leave, lead,
        runQueueDuties, tick, reap, expire, fold, takeUnreportedEnds, trackLabels, removeTracks, nextCredentialTasks,
        storeSealedSecrets, readRefreshAnswer, storeRefresh, takeEndedSpans, extendPartitions, prune,
    ]
}
