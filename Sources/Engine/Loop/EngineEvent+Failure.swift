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
                    "\(error); if the worker connects through PgBouncer in transaction mode, start it with --prepare off"
            )
        default: .statementFailed(verb: verb, reason: error.description)
        }
    }
}
