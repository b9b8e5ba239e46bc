// SPDX-License-Identifier: Apache-2.0

internal import Engine
internal import JobModel

extension LogEvent {
    /// The log line of an engine event.
    init(_ event: EngineEvent) {
        switch event {
        case .enlisted(let worker, let heldLeases):
            self.init(.info, "enlisted", [("worker", .number(Int(worker))), ("held_leases", .number(heldLeases))])
        case .connectionLost(let session, let reason):
            self.init(.warning, "connection_lost", [("session", .text(session)), ("reason", .text(reason))])
        case .connected(let session):
            self.init(.info, "connected", [("session", .text(session))])
        case .leasesLost(let jobs):
            self.init(.warning, "leases_lost", [("jobs", .number(jobs))])
        case .databaseRestored(let leases, let unknownJobs):
            self.init(
                .warning, "database_restored",
                [
                    ("lost_leases", .number(leases)), ("unknown_jobs", .number(unknownJobs)),
                    ("hint", .text("see postrider.restores and docs/operating.md")),
                ])
        case .databaseChanged(let calls, let results):
            self.init(
                .warning, "database_changed",
                [("aborted_calls", .number(calls)), ("dropped_results", .number(results))])
        case .resultsRefused(let jobs, let reason):
            self.init(.warning, "results_refused", [("jobs", .number(jobs)), ("reason", .text(reason))])
        case .statementFailed(let verb, let reason):
            self.init(.warning, "statement_failed", [("verb", .text(verb)), ("reason", .text(reason))])
        case .resultUnstorable(let job, let reason):
            self.init(.error, "result_unstorable", [("job", .number(Int(job))), ("reason", .text(reason))])
        case .resultsLocked(let jobs):
            self.init(
                .warning, "results_locked",
                [
                    ("jobs", .number(jobs)),
                    (
                        "hint",
                        .text("an open transaction of another session has changed them; see pg_stat_activity")
                    ),
                ])
        case .leading(let leads):
            self.init(.info, leads ? "leading" : "no_longer_leading")
        case .workerReaped(let name, let jobs):
            self.init(.warning, "worker_reaped", [("worker", .text(name)), ("jobs", .number(jobs))])
        case .jobFailed(let failed):
            self.init(.warning, "job_failed", LogEvent.fields(of: failed))
        case .moreFailed(let jobs):
            self.init(
                .warning, "more_failed",
                [("jobs", .number(jobs)), ("hint", .text("see postrider.recent_failures"))])
        case .partitionAdded(let range):
            self.init(.info, "partition_added", [("range", .text(range))])
        case .rangePruned(let range, let jobs):
            self.init(.info, "range_pruned", [("range", .text(range)), ("jobs", .number(jobs))])
        case .pruned(let jobs):
            self.init(.info, "pruned", [("jobs", .number(jobs))])
        case .outOfDescriptors:
            self.init(
                .warning, "out_of_descriptors",
                [("hint", .text("calls wait for a descriptor; raise the limit (ulimit -n) or lower --concurrency"))])
        case .memoryShort(let bodies, let answers):
            self.init(
                .warning, "memory_short",
                [
                    ("bodies", .number(bodies)), ("answers", .number(answers)),
                    (
                        "hint",
                        .text(
                            "they wait for free memory and lose nothing; raise --memory or lower max_response"
                        )
                    ),
                ])
        case .workLeft(let reason):
            self.init(
                .warning, "work_left",
                [
                    ("reason", .text(reason)),
                    (
                        "hint",
                        .text(
                            "a lock, a limit or another worker holds it; for the reason: select postrider.explain(id)"
                        )
                    ),
                ])
        case .draining(let inFlight):
            self.init(.info, "draining", [("in_flight", .number(inFlight))])
        case .handedBack(let jobs):
            self.init(.warning, "handed_back", [("jobs", .number(jobs))])
        case .callAborted(let job):
            self.init(.info, "call_aborted", [("job", .number(Int(job)))])
        case .tokenRefreshed(let credential, let version):
            self.init(
                .info, "token_refreshed", [("credential", .text(credential)), ("version", .number(Int(version)))])
        case .refreshFailed(let credential, let isFinal, let reason):
            self.init(
                .warning, isFinal ? "refresh_refused" : "refresh_failed",
                [("credential", .text(credential)), ("reason", .text(reason))])
        case .refreshLate(let credential):
            self.init(.warning, "refresh_late", [("credential", .text(credential))])
        case .spansDropped(let spans, let reason):
            self.init(.warning, "spans_dropped", [("spans", .number(spans)), ("reason", .text(reason))])
        case .stopped:
            self.init(.info, "stopped")
        }
    }

    /// The known facts about failed jobs, without any text from a request or an answer.
    private static func fields(of failed: FailedJobs) -> [(key: String, value: Value)] {
        var fields: [(key: String, value: Value)] = [("state", .text(failed.state))]
        if let job = failed.job { fields.append(("job", .number(Int(job)))) }
        if let queue = failed.queue { fields.append(("queue", .text(queue))) }
        if let lane = failed.lane { fields.append(("lane", .text(lane))) }
        if let attempt = failed.attempt { fields.append(("attempt", .number(attempt))) }
        if let code = failed.code { fields.append(("error_code", .text(code))) }
        if let status = failed.status { fields.append(("status", .number(status))) }
        if failed.jobs > 1 { fields.append(("jobs", .number(failed.jobs))) }
        return fields
    }
}
