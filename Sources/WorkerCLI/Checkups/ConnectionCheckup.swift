// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// Checks whether the server has enough free connections for a worker of this login.
enum ConnectionCheckup {
    /// The sessions of a worker: jobs, duties, callbacks, judging and pruning. Two more read for the dashboard and the
    /// metrics.
    private static let sessions = 5

    private enum Column: Int, PGColumn {
        case kind, name, free

        var sql: StaticString {
            switch self {
            case .kind: "l.kind as kind"
            case .name: "l.name as name"
            case .free: "l.free as free"
            }
        }
    }

    /// The smallest of the limits, and how many connections it leaves.
    ///
    /// This session is not counted, because it ends before a worker starts. Superusers are subject only to the
    /// server's limit. `reserved_connections` and its role came with PostgreSQL 16. A login may not see the type of
    /// other roles' sessions, so sessions without a database count as the server's own.
    private static let question = """
        with others as (
          select a.usesysid, a.datid from pg_stat_activity a
          where a.pid <> pg_backend_pid()
            and (a.backend_type = 'client backend'
                 or (a.backend_type is null and a.usesysid is not null and a.datid is not null)))
        select \(Column.selectList)
        from (
          select 1 as place, 'server' as kind, '' as name,
            current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint
              - case when not exists (
                       select from pg_roles r
                       where r.rolname = 'pg_use_reserved_connections' and pg_has_role(session_user, r.oid, 'usage'))
                     then coalesce(current_setting('reserved_connections', true)::bigint, 0) else 0 end
              - (select count(*) from others) as free
          union all
          select 2, 'role', quote_ident(r.rolname),
                 r.rolconnlimit - (select count(*) from others o where o.usesysid = r.oid)
          from pg_roles r
          where r.rolname = session_user and not r.rolsuper and r.rolconnlimit >= 0
          union all
          select 3, 'database', quote_ident(d.datname),
                 d.datconnlimit - (select count(*) from others o where o.datid = d.oid)
          from pg_database d join pg_roles r on r.rolname = session_user
          where d.datname = current_database() and not r.rolsuper and d.datconnlimit >= 0) l
        order by l.free, l.place
        limit 1
        """

    /// How many connections are free, by which limit, and how to raise it if there are too few.
    static func finding(_ connection: borrowing PGConnection) throws(PGError) -> Finding {
        let answer = try connection.query(question)
        let (kind, free) = (answer.text(0, Column.kind), answer.int64(0, Column.free))
        let isServers = kind == "server"
        let limit = "\(kind) \(answer.text(0, Column.name))"
        let text =
            "\(max(0, free)) free\(isServers ? "" : " of the CONNECTION LIMIT of \(limit)"), "
            + "a worker takes up to \(sessions), with --http \(sessions + 2)"
        guard free < sessions else { return Finding(.ok, "connections", text) }
        let remedy =
            isServers
            ? "raise max_connections or use a pooler with --prepare off"
            : "raise it with: alter \(limit) connection limit NUMBER"
        return Finding(.fault, "connections", "\(text); \(remedy)")
    }
}
