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

    /// Why the login cannot run jobs; nil if it can, or if the schema is missing.
    static func toRunJobs(_ connection: borrowing PGConnection) throws(PGError) -> MissingRight? {
        let answer = try connection.query(
            """
            select current_user::text, quote_ident(pg_get_userbyid(n.nspowner)),
              has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'insert'),
              coalesce(has_schema_privilege(to_regrole('postrider_worker'), n.oid, 'usage')
                       and has_table_privilege(to_regrole('postrider_worker'), c.oid, 'insert'), false)
            from pg_catalog.pg_namespace n join pg_catalog.pg_class c on c.relnamespace = n.oid
            where n.nspname = 'postrider_internal' and c.relname = 'workers'
            """)
        guard answer.rowCount > 0, !answer.bool(0, 2) else { return nil }
        let reason = "\(answer.text(0, 0)) may not run jobs"
        let owner = answer.text(0, 1)
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
        let remedies = [answer.bool(0, 3) ? nil : migrateHere, membership.grant].compactMap { $0 }
        return MissingRight(reason: reason, remedy: remedies.joined(separator: "; and "))
    }

    /// The remedy after a migration that could not set up roles, ownership and privileges.
    static func remedyOfRoles(_ connection: borrowing PGConnection) throws(PGError) -> String {
        let owner = try RoleMembership.found("postrider_owner", connection)
        let names = "'postrider_owner', 'postrider_worker', 'postrider_client', 'postrider_admin', 'postrider_reader'"
        let existing = try connection.query("select count(*) from pg_roles where rolname in (\(names))").int64(0, 0)
        guard existing == 5 else { return "migrate as a role with CREATEROLE, or with --no-roles" }
        guard let grant = owner.grantOfOwnership else { return "migrate as a superuser, see docs/roles.md" }
        return "\(grant); then migrate again, or with --no-roles"
    }

    /// The remedy for a login that was refused by the schema it migrates. Nil if it has the owner's rights, or if the
    /// schema is missing.
    static func remedyOfMigration(_ connection: borrowing PGConnection) throws(PGError) -> String? {
        let answer = try connection.query(
            """
            select quote_ident(pg_get_userbyid(n.nspowner)) from pg_catalog.pg_namespace n
            where n.nspname = 'postrider' and not pg_has_role(n.nspowner, 'usage')
            """)
        guard answer.rowCount > 0 else { return nil }
        let owner = answer.text(0, 0)
        guard owner == "postrider_owner" else { return "the schema belongs to \(owner), migrate as that role" }
        return try RoleMembership.found(owner, connection).grantOfOwnership
    }

    /// The role that may migrate the schema of this owner.
    private static func migrator(_ owner: String) -> String {
        owner == "postrider_owner" ? "a member of postrider_owner" : owner
    }
}
