// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// What each of a worker's sessions is told before its first statement, and for how long its answers are waited for.
struct SessionPlan {
    /// How long a statement of the jobs session may take: 10 MB of JSON in the smallest of values are judged in 3 s,
    /// and a jsonpath that compares all of them with all takes days.
    private static let jobsSeconds = 30
    /// How long a duty's statement may take: heartbeats, one in 3 s, wait behind it, and after 10 s a silent worker is
    /// declared lost.
    private static let dutySeconds = 6
    /// 10 min, whatever the role's own limit is: a step takes a second for each million rows of a range, and begins
    /// anew if it is ended.
    private static let pruneSeconds = 600

    private static let endsForgottenTransactions = "set idle_in_transaction_session_timeout = '10s'"
    /// A session is idle for as long as there is nothing to do.
    private static let staysOpen = "set idle_session_timeout = 0"
    /// A database or role may have another isolation as its default, in which what commits meanwhile is not seen.
    private static let readsCommitted = "set default_transaction_isolation = 'read committed'"
    /// For the transaction that it begins. As a function (`set_config`) it would come too late, behind its own
    /// snapshot.
    private static let readsCommittedOnce = "set transaction_isolation = 'read committed'"
    /// For claimOne; the functions of the hot path say so themselves. It reads a sequence, which can only be scanned:
    /// at the cost of what is switched off PostgreSQL would compile the plan anew in each claim, 200 ms. And with more
    /// partitions than a few it would plan it anew, 0.5 ms, since only one is left in a plan for one job.
    private static let claimsByIndex = [
        "set enable_seqscan = off", "set jit = off", "set plan_cache_mode = force_generic_plan",
    ]

    let database: PGConnectionString
    /// Behind PgBouncer in transaction mode: nothing is told to a session.
    let isPooled: Bool

    init(_ configuration: EngineConfiguration) {
        database = configuration.database
        isPooled = !configuration.usesSessions
    }

    /// Claims, preparations, finishes; hears the news.
    var jobs: PGSession.Configuration {
        // What a client's open transaction holds for longer than a second is written later; see DeferredAttempts.
        var session = session(
            limits: ["statement_timeout": "\(Self.jobsSeconds)s", "lock_timeout": "1s"],
            [Self.endsForgottenTransactions, Self.staysOpen, Self.readsCommitted] + Self.claimsByIndex
                + ["listen postrider"])
        // A commit has no limit of the server's.
        session.answerTimeout = UInt64(Self.jobsSeconds + 5) * 1_000_000_000
        session.ending = isPooled ? nil : StoreStatement.ending
        return session
    }

    /// Heartbeats, surveys, the leader's duties.
    var duties: PGSession.Configuration {
        var session = session(
            limits: ["statement_timeout": "\(Self.dutySeconds)s"],
            [Self.endsForgottenTransactions, Self.staysOpen, Self.readsCommitted])
        session.answerTimeout = UInt64(Self.dutySeconds + 2) * 1_000_000_000
        session.ending = isPooled ? nil : StoreStatement.ending
        return session
    }

    /// Hooks and ends with functions: each of their transactions begins with its own limit of time.
    var callbacks: PGSession.Configuration {
        session(limits: [:], [Self.endsForgottenTransactions, Self.staysOpen, Self.readsCommitted])
    }

    /// Answers that may take long to judge: each of its transactions begins with its own limit of time, 1 min at most
    /// and as long again for a large answer.
    var judging: PGSession.Configuration {
        var session = session(limits: [:], [Self.endsForgottenTransactions, Self.staysOpen, Self.readsCommitted])
        session.answerTimeout = 180_000_000_000
        return session
    }

    /// The leader forgets old jobs.
    var pruning: PGSession.Configuration {
        var session = session(
            limits: ["statement_timeout": "\(Self.pruneSeconds)s"], [Self.staysOpen, Self.readsCommitted])
        session.answerTimeout = UInt64(Self.pruneSeconds + 5) * 1_000_000_000
        return session
    }

    /// A session of one's own is told all of it once; behind PgBouncer each transaction is told what it cannot do
    /// without, since the next one may run on another connection.
    private func session(
        limits: KeyValuePairs<String, String>, _ settings: [String]
    ) -> PGSession.Configuration {
        let told = limits.map { "set_config('\($0.key)', '\($0.value)', \(isPooled))" }
        let path = isPooled ? [SearchPath.localExpression] : []
        let limit = "select " + (path + [TransactionTimeout.off(isLocal: isPooled)] + told).joined(separator: ", ")
        return PGSession.Configuration(
            string: database,
            // Limits before what may take time: until they are told, those of the role hold.
            setUp: isPooled ? [] : [SearchPath.session, limit] + settings, prepares: !isPooled,
            openings: isPooled ? [Self.readsCommittedOnce, limit] : [])
    }
}
