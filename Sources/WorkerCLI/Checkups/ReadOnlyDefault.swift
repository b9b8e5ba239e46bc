// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// Explains `default_transaction_read_only` on a server that is not a standby: where it is set, and how to unset it.
///
/// It is not overridden, because it is also used to close a database for a while, or a former primary permanently.
enum ReadOnlyDefault {
    private enum Column: Int, PGColumn {
        case source, role, database

        var sql: StaticString {
            switch self {
            case .source: "s.source as source"
            case .role: "quote_ident(session_user) as role"
            case .database: "quote_ident(current_database()) as database"
            }
        }
    }

    private static let question = """
        select \(Column.selectList)
        from pg_settings s
        where s.name = 'default_transaction_read_only' and s.setting = 'on' and not pg_is_in_recovery()
        """

    /// Where it is set and how to unset it. Nil if such sessions may write, or if the server is a standby.
    static func advice(_ connection: borrowing PGConnection) throws(PGError) -> String? {
        let answer = try connection.query(question)
        guard answer.rowCount > 0 else { return nil }
        let name = "default_transaction_read_only"
        let (role, database) = (answer.text(0, Column.role), answer.text(0, Column.database))
        let off = "set \(name) = off"
        return switch answer.text(0, Column.source) {
        case "user": "\(name) is on for \(role); run: alter role \(role) \(off)"
        case "database user":
            "\(name) is on for \(role) in \(database); run: alter role \(role) in database \(database) \(off)"
        case "database":
            "\(name) is on for the database \(database); "
                + "unless that is on purpose, run: alter database \(database) \(off)"
        case "global":
            "\(name) is on for all roles; unless that is on purpose, run: alter role all \(off)"
        case "client": "\(name) is on in PGOPTIONS or in the options of the connection string; remove it there"
        default:
            "\(name) is on for the whole server; unless that is on purpose, run: alter system \(off), and reload"
        }
    }

    /// The same for the server of a connection string, after it has refused a session for writing. Nil also if a
    /// session for reading fails.
    static func advice(_ text: String) -> String? {
        guard let connection = try? PGConnection(PGConnectionString(text).primary),
            (try? connection.useSystemSearchPath()) != nil
        else { return nil }
        return try? advice(connection)
    }
}
