// SPDX-License-Identifier: Apache-2.0

internal import PGClient

extension EngineEvent {
    static func statementFailed(verb: String, error: PGError) -> EngineEvent {
        switch error.sqlState {
        case .unknownStatement, .duplicateStatement:
            // A pooler sent transactions of one session to several server sessions, which know other prepared
            // statements.
            .statementFailed(
                verb: verb,
                reason:
                    "\(error); if there is PgBouncer in transaction mode on the way, start the worker with --prepare off"
            )
        default: .statementFailed(verb: verb, reason: error.description)
        }
    }
}
