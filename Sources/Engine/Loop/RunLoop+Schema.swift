// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

// The schema may change while a worker runs: after a migration that it cannot go along with its statements fail for
// good, while its heartbeats would keep its jobs from all others.
extension RunLoop {
    /// A statement has failed. If it names what is not there, the history tells whether the schema is another now. A
    /// migration is one transaction: a look behind the failure sees all of it or nothing, and what fails for another
    /// reason is tried again.
    func suspectSchema(_ error: PGError) {
        guard error.sqlState?.isSchemaMismatch == true, schemaRecheck.wantsLook(now: now) else { return }
        lookAtSchema()
    }

    func lookAtSchema() {
        guard configuration.schema != nil else { return schemaSeen(nil) }
        parameters.removeAll()
        do throws(PGError) {
            try jobs.send(SchemaCheck.historyStatement, &parameters, tag: Tag.schema)
            schemaRecheck.looks(now: now)
        } catch {
            // The next failure asks again.
        }
    }

    /// The history is there. With a number the worker stops as for a signal: calls under way end and are stored, if
    /// they still can be, and jobs are handed back.
    func schemaSeen(_ state: SchemaState?) {
        if schemaRecheck.cannotEnlist {
            let advice =
                state?.advice ?? "the schema of this database is not the one this worker knows; run: worker migrate"
            end = .schemaMismatch(advice)
        } else if let advice = state?.advice {
            schemaRecheck.advice = advice
            configuration.log(.statementFailed(verb: "schema", reason: advice))
            if !shutdown.isRequested { stopRequested() }
        }
    }

    /// The history could not be read: the schema is gone, or the look is made again.
    func schemaNotSeen(_ error: PGError) {
        if error.sqlState == .undefinedTable || error.sqlState == .noSuchSchema { return schemaSeen(.missing) }
        configuration.log(.statementFailed(verb: "schema", error: error))
        if schemaRecheck.cannotEnlist { schemaSeen(nil) }
    }
}
