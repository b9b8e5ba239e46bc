// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import JobStore
internal import PGClient
internal import Reactor
internal import Synchronization

/// An act on all jobs of a filter, or of several filters in turn: it runs in steps on its own thread. One runs at a time.
///
/// A step is one transaction and looks at a bounded number of rows. So no lock is held for long, and a stop loses
/// nothing. Jobs that ended or were inserted after the start are left alone. Otherwise a job that is retried and fails
/// again would be retried without end.
final class BulkRun: Sendable {
    /// How far the last run is.
    struct Progress: Sendable {
        /// The state of a run.
        enum State: Equatable, Sendable {
            case running, stopping, stopped, finished
            /// It ended because of this error.
            case failed(String)
        }

        let act: Act
        let actor: AdminLogin
        var state = State.running
        /// Jobs that were looked at.
        var examined: Int64 = 0
        /// Jobs that were changed.
        var changed: Int64 = 0
        /// The row of `admin_log`.
        var row: Int64?

        var isRunning: Bool { state == .running || state == .stopping }
    }

    private let database: ActDatabase
    private let report: @Sendable (AdminAction) -> Void
    private let current = Mutex<Progress?>(nil)

    /// Jobs of one transaction.
    private static let step = 500
    /// How often a step is tried if another session is in its way.
    private static let mostTries = 5

    init(_ database: PGConnectionString, report: @escaping @Sendable (AdminAction) -> Void) {
        self.database = ActDatabase(database)
        self.report = report
    }

    /// The run that is under way, or the last one since the worker started.
    var progress: Progress? { current.withLock { $0 } }

    /// Starts a run. False if another one is under way, or if the system starts no thread.
    func start(_ act: Act, as actor: AdminLogin) -> Bool {
        let isFree = current.withLock { current in
            if current?.isRunning == true { return false }
            current = Progress(act: act, actor: actor)
            return true
        }
        guard isFree else { return false }
        if DetachedThread.start({ self.run(act, actor) }) { return true }
        set(.failed("the system started no thread"))
        return false
    }

    /// Stops the run after its step.
    func stop() {
        current.withLock { if $0?.state == .running { $0?.state = .stopping } }
    }

    private func set(_ state: Progress.State) { current.withLock { $0?.state = state } }

    private var mustStop: Bool { current.withLock { $0?.state == .stopping } }

    private func run(_ act: Act, _ actor: AdminLogin) {
        do throws(PGError) {
            // The times are taken first: a job that matches two filters must not be retried twice.
            let ends = try act.selections.map { selection throws(PGError) in try startTime(selection) }
            for (selection, until) in zip(act.selections, ends) where !mustStop {
                try change(selection, until: until, act, actor)
            }
            set(mustStop ? .stopped : .finished)
        } catch {
            set(.failed(ActPage.reason(error)))
        }
        if let progress {
            report(
                AdminAction(
                    actor: actor.name, action: act.kind.rawValue, target: act.targetJSON(), count: progress.changed))
        }
    }

    /// Changes the jobs of one filter.
    private func change(
        _ selection: JobSelection, until: String, _ act: Act, _ actor: AdminLogin
    ) throws(PGError) {
        // Members have higher ids than their batches and chains, which would fail by the cancelled members.
        if act.kind == .cancel {
            for state in selection.states where state != "ready" {
                try walk(act, actor, selection, state: state, until: until, treesOnly: true)
            }
        }
        for state in selection.states { try walk(act, actor, selection, state: state, until: until) }
    }

    /// The end of the filtered time, at most now.
    private func startTime(_ selection: JobSelection) throws(PGError) -> String {
        let until = selection.until
        let time: String? = try repeating { connection throws(PGError) in
            var parameters = PGParameters()
            parameters.append(text: until)
            return try connection.query(
                "select least($1::timestamptz, clock_timestamp())::text as value", &parameters
            ).text(0, PGValueColumn.value)
        }
        return time ?? "now"
    }

    /// Goes through the jobs of a state. Jobs that change leave the state, so another pass finds further ones. Jobs
    /// that are rescheduled stay in it, so there is one pass.
    private func walk(
        _ act: Act, _ actor: AdminLogin, _ selection: JobSelection, state: String, until: String,
        treesOnly: Bool = false
    ) throws(PGError) {
        var changed: Int64 = 0
        repeat {
            changed = 0
            var before: Int64?
            while !mustStop {
                let filter = selection.filter(state: state, until: until, before: before, limit: BulkRun.step)
                let row = progress?.row
                let step = try repeating { connection throws(PGError) in
                    try BulkStep(filter, act, actor, selection, treesOnly, row, connection)
                }
                guard let step else { break }
                changed += step.changed
                current.withLock {
                    $0?.examined += treesOnly ? 0 : step.examined
                    $0?.changed += step.changed
                    $0?.row = step.row
                }
                guard let reached = step.reached else { break }
                before = reached
            }
        } while changed > 0 && act.kind != .reschedule && !mustStop
    }

    /// Runs a step, and again after a lock, a deadlock or a lost connection.
    private func repeating<Value: Sendable>(
        _ step: @Sendable (borrowing PGConnection) throws(PGError) -> Value?
    ) throws(PGError) -> Value? {
        for attempt in 1... {
            do throws(PGError) {
                return try database.run(step)
            } catch {
                if mustStop { return nil }
                let isPassing = error.sqlState.map { ["40", "53", "55", "57"].contains($0.category) } ?? true
                guard isPassing, attempt < BulkRun.mostTries else { throw error }
                sleep(1)
            }
        }
        return nil
    }
}

/// The result of one transaction of a run.
private struct BulkStep: Sendable {
    let examined: Int64
    let changed: Int64
    /// See `JobSearch`.
    let reached: Int64?
    let row: Int64?

    init(
        _ filter: JobFilter, _ act: Act, _ actor: AdminLogin, _ selection: JobSelection, _ treesOnly: Bool,
        _ row: Int64?,
        _ connection: borrowing PGConnection
    ) throws(PGError) {
        let found = try filter.search(connection, window: selection.window)
        let ids = found.ids
        examined = Int64(ids.count)
        reached = found.reached
        guard !ids.isEmpty else {
            (changed, self.row) = (0, row)
            return
        }
        var arguments = PGParameters()
        arguments.append(text: act.kind.rawValue)
        arguments.append(int64s: ids)
        arguments.append(text: actor.words)
        arguments.append(text: act.time)
        arguments.append(bool: selection.repeatsDoubtfulJobs)
        arguments.append(bool: treesOnly)
        changed = try connection.query(
            """
            select postrider_internal.act_on_jobs($1, $2, $3, coalesce($4::timestamptz, now()), $5, $6) as value
            """, &arguments
        ).int64(0, PGValueColumn.value)
        let action = AdminAction(
            actor: actor.name, action: act.kind.rawValue, target: act.targetJSON(), count: changed)
        self.row = try action.record(connection, addingTo: row)
    }
}
