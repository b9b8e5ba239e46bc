// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// The settings of each session of a worker, and how long the worker waits for its answers.
struct SessionPlan {
    /// The time limit of a statement of the jobs session. To judge 10 MB of JSON with very small values takes 3 s. A
    /// jsonpath that compares each value with each other takes days.
    private static let jobsSeconds = 30
    /// The time limit of a duty. Heartbeats, one in 3 s, wait behind it, and after 10 s a silent worker is declared
    /// lost.
    private static let dutySeconds = 6
    /// 10 min, which replaces the limit of the role. A step takes a second for each million rows of a partition, and
    /// starts again if it is ended.
    private static let pruneSeconds = 600

    private static let endsForgottenTransactions = "set idle_in_transaction_session_timeout = '10s'"
    /// A session stays idle while there is no work, so the server must not close it.
    private static let staysOpen = "set idle_session_timeout = 0"
    /// A database or role may have another default isolation, in which later commits of other sessions are invisible.
    private static let readsCommitted = "set default_transaction_isolation = 'read committed'"
    /// Sets the isolation of the transaction that it begins. The function `set_config` would come too late, after its
    /// own snapshot.
    private static let readsCommittedOnce = "set transaction_isolation = 'read committed'"
    /// Settings for `claimOne`. The functions of the hot path have their own.
    ///
    /// It reads a sequence, which PostgreSQL can only scan. With the penalty for a disabled scan in its cost, the plan
    /// would be compiled by JIT in each claim, which takes 200 ms. With many partitions PostgreSQL would also plan each
    /// claim anew, which takes 0.5 ms, because a plan for one job reads only one of them.
    private static let claimsByIndex = [
        "set enable_seqscan = off", "set jit = off", "set plan_cache_mode = force_generic_plan",
    ]

    let database: PGConnectionString
    /// True behind PgBouncer in transaction mode, where settings of a session do not last.
    let isPooled: Bool

    init(_ configuration: EngineConfiguration) {
        database = configuration.database
        isPooled = !configuration.usesSessions
    }

    /// The settings of a session.
    func settings(of kind: Session.Kind) -> PGSession.Configuration {
        switch kind {
        case .jobs: jobs
        case .duties: duties
        case .callbacks: callbacks
        case .judging: judging
        case .pruning: pruning
        }
    }

    /// The session for claims, preparations and finishes. It receives the notifications.
    private var jobs: PGSession.Configuration {
        // If an open transaction holds a row for longer than a second, the result is written later; see
        // `DeferredAttempts`.
        var session = session(
            limits: ["statement_timeout": "\(Self.jobsSeconds)s", "lock_timeout": "1s"],
            [Self.endsForgottenTransactions, Self.staysOpen, Self.readsCommitted] + Self.claimsByIndex
                + ["listen postrider"])
        // The server has no time limit for a commit.
        session.answerTimeout = UInt64(Self.jobsSeconds + 5) * 1_000_000_000
        session.terminationSQL = isPooled ? nil : StoreStatement.terminationSQL
        return session
    }

    /// The session for heartbeats, surveys and the leader's duties.
    private var duties: PGSession.Configuration {
        var session = session(
            limits: ["statement_timeout": "\(Self.dutySeconds)s"],
            [Self.endsForgottenTransactions, Self.staysOpen, Self.readsCommitted])
        session.answerTimeout = UInt64(Self.dutySeconds + 2) * 1_000_000_000
        session.terminationSQL = isPooled ? nil : StoreStatement.terminationSQL
        return session
    }

    /// The session for hooks and callbacks. Each of its transactions begins with its own time limit.
    private var callbacks: PGSession.Configuration {
        session(limits: [:], [Self.endsForgottenTransactions, Self.staysOpen, Self.readsCommitted])
    }

    /// The session for answers that may take long to judge. Each of its transactions begins with its own time limit: at
    /// most 1 min, and as long again for a large answer.
    private var judging: PGSession.Configuration {
        var session = session(limits: [:], [Self.endsForgottenTransactions, Self.staysOpen, Self.readsCommitted])
        session.answerTimeout = 180_000_000_000
        return session
    }

    /// The session on which the leader deletes old jobs.
    private var pruning: PGSession.Configuration {
        var session = session(
            limits: ["statement_timeout": "\(Self.pruneSeconds)s"], [Self.staysOpen, Self.readsCommitted])
        session.answerTimeout = UInt64(Self.pruneSeconds + 5) * 1_000_000_000
        return session
    }

    /// The configuration of a session. Without PgBouncer a session gets its settings once. Behind PgBouncer each
    /// transaction sets the most important ones, since the next transaction may use another connection.
    private func session(
        limits: KeyValuePairs<String, String>, _ settings: [String]
    ) -> PGSession.Configuration {
        let calls = limits.map { "set_config('\($0.key)', '\($0.value)', \(isPooled))" }
        let path = isPooled ? [SearchPath.localExpression] : []
        let limit = "select " + (path + [TransactionTimeout.off(isLocal: isPooled)] + calls).joined(separator: ", ")
        return PGSession.Configuration(
            string: database,
            // The limits come first. Until they are set, the limits of the role hold.
            setUp: isPooled ? [] : [SearchPath.session, limit] + settings, prepares: !isPooled,
            openings: isPooled ? [Self.readsCommittedOnce, limit] : [])
    }
}
