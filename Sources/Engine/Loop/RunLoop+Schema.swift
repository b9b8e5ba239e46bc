// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

// The schema may change while a worker runs. After a migration that the worker does not support, its statements fail
// each time, while its heartbeats keep its jobs from other workers.
extension RunLoop {
    /// Checks the schema after a statement failed because an object is missing.
    ///
    /// The history shows whether the schema has changed. A migration is one transaction, so a check after the failure
    /// sees all of it or nothing. A failure for another reason is tried again.
    func suspectSchema(_ error: PGError) {
        guard error.sqlState?.isSchemaMismatch == true, schemaRecheck.wantsLook(now: now) else { return }
        lookAtSchema()
    }

    /// Asks for the history of migrations.
    func lookAtSchema() {
        guard shared.configuration.schema != nil else { return schemaSeen(nil) }
        shared.parameters.removeAll()
        do throws(PGError) {
            try jobs.send(SchemaCheck.historyStatement, &shared.parameters, tag: Tag.schema)
            schemaRecheck.looks(now: now)
        } catch {
            // The next failure checks again.
        }
    }

    /// Handles the history. A worker with a number stops as if by a signal. Running calls end and are stored if
    /// possible, and jobs are handed back.
    ///
    /// - Parameter state: the state of the schema; nil if it is unknown.
    func schemaSeen(_ state: SchemaState?) {
        if schemaRecheck.cannotEnlist {
            let advice =
                state?.advice ?? "the schema of this database is not the one this worker knows; run: worker migrate"
            end = .schemaMismatch(advice)
        } else if let advice = state?.advice {
            schemaRecheck.advice = advice
            shared.log(.statementFailed(verb: "schema", reason: advice))
            if !shutdown.isRequested { stopRequested() }
        }
    }

    /// Handles a failed check: the schema is missing, or the check is repeated later.
    func schemaNotSeen(_ error: PGError) {
        if error.sqlState == .undefinedTable || error.sqlState == .noSuchSchema { return schemaSeen(.missing) }
        shared.log(.statementFailed(verb: "schema", error: error))
        if schemaRecheck.cannotEnlist { schemaSeen(nil) }
    }
}
