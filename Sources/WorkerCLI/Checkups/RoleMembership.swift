// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// How the login stands to one of Postrider's roles, and who can do something about it: catalogs, which everybody may
/// read.
///
/// From PostgreSQL 16 on who grants a role needs its admin option, and a membership may lack the role's rights
/// (INHERIT) or ALTER … OWNER (SET). Before, CREATEROLE is enough to grant, and the login decides on INHERIT for all
/// its roles.
struct RoleMembership: Equatable {
    /// The role, quoted where it must be; so all names here.
    var role: String
    /// Who connects.
    var login: String
    /// Whether there is such a role.
    var exists: Bool
    /// Whether somebody has granted it to the login, directly or by way of other roles.
    var isMember: Bool
    /// Whether the login has the role's rights.
    var hasRights: Bool
    /// Whether the login may change to the role.
    var maySet: Bool
    /// Whether the login has the rights of what is granted to it, unless the grant says otherwise.
    var inherits: Bool
    /// Who may grant the role, as words.
    var grantors: String
    /// Whether the options are those of a membership: PostgreSQL 16.
    var hasOptions: Bool

    /// Looks for it.
    static func found(_ role: String, _ connection: borrowing PGConnection) throws(PGError) -> RoleMembership {
        var parameters = PGParameters()
        parameters.append(text: role)
        let answer = try connection.query(
            """
            with asked as (
              select to_regrole($1)::oid as role, current_setting('server_version_num')::int >= 160000 as has_options)
            select quote_ident(current_user), a.role is not null, a.has_options,
              coalesce(pg_has_role(a.role, 'member'), false), coalesce(pg_has_role(a.role, 'usage'), false),
              coalesce(pg_has_role(a.role, case when a.has_options then 'set' else 'member' end), false),
              array(select distinct quote_ident(h.rolname) from pg_auth_members m join pg_roles h on h.oid = m.member
                    where m.roleid = a.role and m.admin_option and not h.rolsuper order by 1 limit 3),
              (select rolinherit from pg_roles where rolname = current_user)
            from asked a
            """, &parameters)
        let hasOptions = answer.bool(0, 2)
        let others = hasOptions ? ["a superuser"] : ["a role with CREATEROLE", "a superuser"]
        return RoleMembership(
            role: role, login: answer.text(0, 0), exists: answer.bool(0, 1), isMember: answer.bool(0, 3),
            hasRights: answer.bool(0, 4), maySet: answer.bool(0, 5), inherits: answer.bool(0, 7),
            grantors: Self.choice(answer.texts(0, 6) + others), hasOptions: hasOptions)
    }

    /// What gives the login the role's rights, by whom; nil: it has them.
    var grant: String? { hasRights ? nil : "\(by): \(statement(options: ["inherit true"]))" }

    /// What lets the login change to the role as well, so that it may give the role what it owns; nil: it may.
    var grantOfOwnership: String? {
        hasRights && maySet ? nil : "\(by): \(statement(options: ["inherit true", "set true"]))"
    }

    private var by: String { "as \(grantors)" }

    /// A membership that lacks something, or would, is granted with that.
    private func statement(options: [String]) -> String {
        let grant = "grant \(role) to \(login)"
        if hasOptions { return isMember || !inherits ? "\(grant) with \(options.joined(separator: ", "))" : grant }
        return [isMember ? nil : grant, inherits ? nil : "alter role \(login) inherit"].compactMap { $0 }
            .joined(separator: "; ")
    }

    /// "a, b or c".
    private static func choice(_ names: [String]) -> String {
        [names.dropLast().joined(separator: ", "), names.last ?? ""].filter { !$0.isEmpty }.joined(separator: " or ")
    }
}
