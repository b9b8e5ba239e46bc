// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// Row-level security on tables of the schema that hides rows from the role that runs jobs.
///
/// It causes no error: clients insert rows, and the statements of a worker find none.
struct RowSecurity: Equatable {
    /// Where it is enabled, from whom it hides rows, and the remedy.
    var text: String
    /// Whether it hides the history of migrations. Then the schema cannot be checked.
    var hidesHistory: Bool

    private enum Column: Int, PGColumn {
        case names, tables, logins, hidesHistory

        var sql: StaticString {
            switch self {
            case .names: "(array_agg(distinct h.name))[:3] as names"
            case .tables: "count(distinct h.name) as tables"
            case .logins: "string_agg(distinct h.login, ' and ') as logins"
            case .hidesHistory: "bool_or(h.name = 'postrider.migrations') as hides_history"
            }
        }
    }

    /// Reads catalogs that all roles may read.
    ///
    /// It checks the login and, where row security is forced, the owner of the tables, as which some functions run. A
    /// policy that accepts all rows hides none, unless a restrictive policy exists as well.
    private static let question = """
        with subjects as (
          select c.oid, c.oid::regclass::text as name, r.oid as role, quote_ident(r.rolname) as login
          from pg_class c join pg_roles r on r.rolname = current_user or r.oid = c.relowner
          where c.relnamespace in (to_regnamespace('postrider'), to_regnamespace('postrider_internal'))
            and c.relkind in ('r', 'p') and c.relrowsecurity
            and not r.rolsuper and not r.rolbypassrls
              and (c.relforcerowsecurity or not pg_has_role(r.oid, c.relowner, 'usage'))),
        hidden as (
          select s.name, s.login
          from subjects s
            left join lateral (
              select coalesce(bool_or(p.polpermissive and p.polcmd = '*' and pg_get_expr(p.polqual, p.polrelid) = 'true'
                       and coalesce(pg_get_expr(p.polwithcheck, p.polrelid), 'true') = 'true'), false)
                     and coalesce(bool_and(p.polpermissive), false) as passes
              from pg_policy p
              where p.polrelid = s.oid
                and (0 = any (p.polroles) or exists (select from unnest(p.polroles) as g (role)
                                                     where pg_has_role(s.role, g.role, 'usage')))
              ) w on true
          where not w.passes)
        select \(Column.selectList)
        from hidden h
        having count(*) > 0
        """

    /// The row security that hides rows from this login or from the schema's owner. Nil if no rows are hidden.
    static func found(_ connection: borrowing PGConnection) throws(PGError) -> RowSecurity? {
        let answer = try connection.query(question)
        guard answer.rowCount > 0 else { return nil }
        let names = answer.texts(0, Column.names)
        let more = answer.int64(0, Column.tables) - Int64(names.count)
        let tables = names.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        return RowSecurity(
            text: "row-level security on \(tables) hides rows from \(answer.text(0, Column.logins)), "
                + "so that jobs do not run; "
                + "as the schema's owner: alter table \(names.first ?? "") disable row level security"
                + (names.count > 1 ? ", for each of them; see docs/roles.md" : ""),
            hidesHistory: answer.bool(0, Column.hidesHistory))
    }
}
