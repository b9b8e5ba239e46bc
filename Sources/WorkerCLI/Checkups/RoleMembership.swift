// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The login's membership in one of Postrider's roles, and who can change it. It reads catalogs that all roles may
/// read.
///
/// From PostgreSQL 16 on a grantor needs the role's admin option. A membership may lack the role's rights (INHERIT) or
/// the right to ALTER … OWNER (SET). Before that version CREATEROLE was enough to grant, and INHERIT was an attribute
/// of the login for all its roles.
struct RoleMembership: Equatable {
    /// The role, quoted if necessary, like all names here.
    var role: String
    /// The connected role.
    var login: String
    /// Whether the role exists.
    var exists: Bool
    /// Whether the role was granted to the login, directly or through other roles.
    var isMember: Bool
    /// Whether the login has the role's rights.
    var hasRights: Bool
    /// Whether the login may change to the role (SET ROLE).
    var maySet: Bool
    /// Whether the login inherits the rights of its roles by default.
    var inherits: Bool
    /// The roles that may grant it, as words.
    var grantors: String
    /// Whether memberships have options: PostgreSQL 16 and later.
    var hasOptions: Bool

    private enum Column: Int, PGColumn {
        case login, roleExists, hasOptions, isMember, hasRights, maySet, grantors, inherits

        var sql: StaticString {
            switch self {
            case .login: "quote_ident(current_user) as login"
            case .roleExists: "a.role is not null as role_exists"
            case .hasOptions: "a.has_options as has_options"
            case .isMember: "coalesce(pg_has_role(a.role, 'member'), false) as is_member"
            case .hasRights: "coalesce(pg_has_role(a.role, 'usage'), false) as has_rights"
            case .maySet:
                """
                coalesce(pg_has_role(a.role, case when a.has_options then 'set' else 'member' end), false) as may_set
                """
            case .grantors:
                """
                array(select distinct quote_ident(h.rolname) from pg_auth_members m join pg_roles h on h.oid = m.member
                      where m.roleid = a.role and m.admin_option and not h.rolsuper order by 1 limit 3) as grantors
                """
            case .inherits: "(select rolinherit from pg_roles where rolname = current_user) as inherits"
            }
        }
    }

    /// Reads the membership from the catalogs.
    static func found(_ role: String, _ connection: borrowing PGConnection) throws(PGError) -> RoleMembership {
        var parameters = PGParameters()
        parameters.append(text: role)
        let answer = try connection.query(
            """
            with asked as (
              select to_regrole($1)::oid as role, current_setting('server_version_num')::int >= 160000 as has_options)
            select \(Column.selectList) from asked a
            """, &parameters)
        let hasOptions = answer.bool(0, Column.hasOptions)
        let others = hasOptions ? ["a superuser"] : ["a role with CREATEROLE", "a superuser"]
        return RoleMembership(
            role: role, login: answer.text(0, Column.login), exists: answer.bool(0, Column.roleExists),
            isMember: answer.bool(0, Column.isMember), hasRights: answer.bool(0, Column.hasRights),
            maySet: answer.bool(0, Column.maySet), inherits: answer.bool(0, Column.inherits),
            grantors: Self.choice(answer.texts(0, Column.grantors) + others), hasOptions: hasOptions)
    }

    /// The statement that gives the login the role's rights, and who runs it. Nil if the login has them.
    var grant: String? { hasRights ? nil : "\(by): \(statement(options: ["inherit true"]))" }

    /// The statement that also lets the login change to the role, so that it may give the role ownership. Nil if it
    /// may.
    var grantOfOwnership: String? {
        hasRights && maySet ? nil : "\(by): \(statement(options: ["inherit true", "set true"]))"
    }

    /// The statement that lets the login change to the role (SET ROLE), and who runs it. Nil if it may. Memberships
    /// include that right unless one was granted without it.
    var grantToChange: String? {
        guard !maySet else { return nil }
        return "\(by): grant \(role) to \(login)\(hasOptions && isMember ? " with set true" : "")"
    }

    /// The beginning of a remedy: the roles that run the statement.
    private var by: String { "as \(grantors)" }

    /// The grant, with these options if they are necessary. Before PostgreSQL 16 also the change of the login's
    /// INHERIT.
    private func statement(options: [String]) -> String {
        let grant = "grant \(role) to \(login)"
        if hasOptions { return isMember || !inherits ? "\(grant) with \(options.joined(separator: ", "))" : grant }
        return [isMember ? nil : grant, inherits ? nil : "alter role \(login) inherit"].compactMap { $0 }
            .joined(separator: "; ")
    }

    /// The names as "a, b or c".
    private static func choice(_ names: [String]) -> String {
        [names.dropLast().joined(separator: ", "), names.last ?? ""].filter { !$0.isEmpty }.joined(separator: " or ")
    }
}
