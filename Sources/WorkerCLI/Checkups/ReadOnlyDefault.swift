// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// `default_transaction_read_only` on a server that is no standby: whose setting it is, and what takes it back.
///
/// It is not overridden: that is also how a database is closed for a while, and an old primary for good.
enum ReadOnlyDefault {
    private static let question = """
        select s.source, quote_ident(session_user), quote_ident(current_database())
        from pg_settings s
        where s.name = 'default_transaction_read_only' and s.setting = 'on' and not pg_is_in_recovery()
        """

    /// What is set and how to unset it; nil: sessions like this one take writes, or the server is a standby.
    static func advice(_ connection: borrowing PGConnection) throws(PGError) -> String? {
        let answer = try connection.query(question)
        guard answer.rowCount > 0 else { return nil }
        let name = "default_transaction_read_only"
        let (role, database, off) = (answer.text(0, 1), answer.text(0, 2), "set \(name) = off")
        return switch answer.text(0, 0) {
        case "user": "\(name) is on for \(role); run: alter role \(role) \(off)"
        case "database user":
            "\(name) is on for \(role) in \(database); run: alter role \(role) in database \(database) \(off)"
        case "database":
            "\(name) is on for the database \(database); unless it is closed on purpose, run: alter database \(database) \(off)"
        case "global":
            "\(name) is on for all roles; unless that is on purpose, run: alter role all \(off)"
        case "client": "\(name) is on in PGOPTIONS or in the options of the connection string; take it out there"
        default:
            "\(name) is on for the whole server; unless it is closed on purpose, run: alter system \(off), and reload"
        }
    }

    /// The same of a place that a session for writing was refused at; nil as well if none for reading comes about.
    static func advice(_ text: String) -> String? {
        guard let connection = try? PGConnection(PGConnectionString(text).primary),
            (try? connection.looksUpSystemNames()) != nil
        else { return nil }
        return try? advice(connection)
    }
}
