// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The right that a login lacks to run jobs or to migrate, and the role that can grant it.
///
/// It reads only catalogs that all roles may read: a role without rights in the schema cannot even name its tables.
struct MissingRight: Equatable {
    /// The missing right.
    var reason: String
    /// The remedy, and the role for it.
    var remedy: String

    private enum Column: Int, PGColumn {
        case login, owner, runsJobs, workerHasRights

        var sql: StaticString {
            switch self {
            case .login: "current_user::text as login"
            case .owner: "quote_ident(pg_get_userbyid(n.nspowner)) as owner"
            case .runsJobs:
                """
                has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'insert') as runs_jobs
                """
            case .workerHasRights:
                """
                coalesce(has_schema_privilege(to_regrole('postrider_worker'), n.oid, 'usage')
                         and has_table_privilege(to_regrole('postrider_worker'), c.oid, 'insert'), false)
                  as worker_has_rights
                """
            }
        }
    }

    /// Why the login cannot run jobs; nil if it can, or if the schema is missing.
    static func toRunJobs(_ connection: borrowing PGConnection) throws(PGError) -> MissingRight? {
        let answer = try connection.query(
            """
            select \(Column.selectList)
            from pg_catalog.pg_namespace n join pg_catalog.pg_class c on c.relnamespace = n.oid
            where n.nspname = 'postrider_internal' and c.relname = 'workers'
            """)
        guard answer.rowCount > 0, !answer.bool(0, Column.runsJobs) else { return nil }
        let reason = "\(answer.text(0, Column.login)) may not run jobs"
        let owner = answer.text(0, Column.owner)
        let membership = try RoleMembership.found("postrider_worker", connection)
        guard membership.exists else {
            return MissingRight(
                reason: reason,
                remedy:
                    "there is no role postrider_worker; run worker migrate as a role with CREATEROLE, or connect as \(owner)"
            )
        }
        // The role gets its rights in each database of the server by a migrate of that database.
        let migrateHere = "postrider_worker has no rights in this database; as \(migrator(owner)): worker migrate"
        let remedies = [answer.bool(0, Column.workerHasRights) ? nil : migrateHere, membership.grant].compactMap { $0 }
        return MissingRight(reason: reason, remedy: remedies.joined(separator: "; and "))
    }

    /// The remedy after a migration that could not set up roles, ownership and privileges.
    static func remedyOfRoles(_ connection: borrowing PGConnection) throws(PGError) -> String {
        let owner = try RoleMembership.found("postrider_owner", connection)
        let names = "'postrider_owner', 'postrider_worker', 'postrider_client', 'postrider_admin', 'postrider_reader'"
        let existing = try connection.query("select count(*) as value from pg_roles where rolname in (\(names))")
            .int64(0, PGValueColumn.value)
        guard existing == 5 else { return "migrate as a role with CREATEROLE, or with --no-roles" }
        guard let grant = owner.grantOfOwnership else { return "migrate as a superuser, see docs/roles.md" }
        return "\(grant); then migrate again, or with --no-roles"
    }

    /// The remedy for a login that was refused by the schema it migrates. Nil if it has the owner's rights, or if the
    /// schema is missing.
    static func remedyOfMigration(_ connection: borrowing PGConnection) throws(PGError) -> String? {
        let answer = try connection.query(
            """
            select quote_ident(pg_get_userbyid(n.nspowner)) as value from pg_catalog.pg_namespace n
            where n.nspname = 'postrider' and not pg_has_role(n.nspowner, 'usage')
            """)
        guard answer.rowCount > 0 else { return nil }
        let owner = answer.text(0, PGValueColumn.value)
        guard owner == "postrider_owner" else { return "the schema belongs to \(owner), migrate as that role" }
        return try RoleMembership.found(owner, connection).grantOfOwnership
    }

    /// The role that may migrate the schema of this owner.
    private static func migrator(_ owner: String) -> String {
        owner == "postrider_owner" ? "a member of postrider_owner" : owner
    }
}
