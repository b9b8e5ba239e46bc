// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The conditions that a server and its database must meet before a migration.
enum ServerRequirements {
    private enum Column: Int, PGColumn {
        case encoding, version, isNewEnough

        var sql: StaticString {
            switch self {
            case .encoding: "current_setting('server_encoding') as encoding"
            case .version: "current_setting('server_version') as version"
            case .isNewEnough: "current_setting('server_version_num')::int >= 150000 as is_new_enough"
            }
        }
    }

    /// Refuses servers before PostgreSQL 15, and databases in another encoding than UTF-8, which the texts of the
    /// schema and its handling of answers need.
    static func check(_ connection: borrowing PGConnection) throws(StoreError) {
        let server: PGResult
        do throws(PGError) {
            server = try connection.query("select \(Column.selectList)")
        } catch {
            throw StoreError.database("server", error)
        }
        guard server.bool(0, Column.isNewEnough) else {
            throw StoreError(
                .files, "the server is PostgreSQL \(server.text(0, Column.version)); 15 or newer is needed")
        }
        let encoding = server.text(0, Column.encoding)
        guard encoding == "UTF8" else {
            throw StoreError(
                .files,
                "the database's encoding is \(encoding), and the schema needs UTF8; "
                    + "create one with: create database NAME encoding 'UTF8' template template0")
        }
    }
}
