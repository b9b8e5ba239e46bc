// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// Checks whether the schema has changed while the worker runs.
///
/// After a migration that the worker does not support, its statements fail each time, while its heartbeats keep its
/// jobs from other workers.
final class SchemaGuard {
    private let shared: SharedState
    private let jobs: Session
    private let stop: StopSequence
    private var recheck = SchemaRecheck()

    /// A guard that has seen no failure.
    init(_ shared: SharedState, jobs: Session, stop: StopSequence) {
        self.shared = shared
        self.jobs = jobs
        self.stop = stop
    }

    /// Records that the worker has its number.
    func enlisted() { recheck.cannotEnlist = false }

    /// Handles a failed enlisting.
    ///
    /// - Returns: whether the schema lacks the `enlist` function that this worker calls. Then the history decides.
    func enlistingFailed(_ error: PGError) -> Bool {
        guard error.sqlState?.isSchemaMismatch == true else { return false }
        recheck.cannotEnlist = true
        look()
        return true
    }

    /// Checks the schema after a statement failed because an object is missing.
    ///
    /// The history shows whether the schema has changed. A migration is one transaction, so a check after the failure
    /// sees all of it or nothing. A failure for another reason is tried again.
    func suspect(_ error: PGError) {
        guard error.sqlState?.isSchemaMismatch == true, recheck.wantsLook(now: shared.now) else { return }
        look()
    }

    /// Asks for the history of migrations.
    private func look() {
        guard shared.configuration.schema != nil else { return seen(nil) }
        shared.parameters.removeAll()
        do throws(PGError) {
            try jobs.send(SchemaCheck.historyStatement, &shared.parameters, tag: Tag.schema)
            recheck.looks(now: shared.now)
        } catch {
            // The next failure checks again.
        }
    }

    /// Handles the history of migrations.
    func seen(_ history: borrowing PGResult) { seen(shared.configuration.schema?.plan(history: history).state) }

    /// Handles the state of the schema. A worker with a number stops as if by a signal. Running calls end and are
    /// stored if possible, and jobs are handed back.
    ///
    /// - Parameter state: the state of the schema; nil if it is unknown.
    private func seen(_ state: SchemaState?) {
        if recheck.cannotEnlist {
            let advice =
                state?.advice ?? "the schema of this database does not match this worker; run: worker migrate"
            stop.endRun(.schemaMismatch(advice))
        } else if let advice = state?.advice {
            recheck.hasChanged = true
            shared.log(.statementFailed(verb: "schema", reason: advice))
            stop.request(because: .schemaMismatch(advice))
        }
    }

    /// Handles a failed check: the schema is missing, or the check is repeated later.
    func lookFailed(_ error: PGError) {
        if error.sqlState == .undefinedTable || error.sqlState == .noSuchSchema { return seen(.missing) }
        shared.log(.statementFailed(verb: "schema", error: error))
        if recheck.cannotEnlist { seen(nil) }
    }
}
