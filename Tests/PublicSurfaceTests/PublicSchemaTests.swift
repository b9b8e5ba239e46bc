// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The kept lists hold the names, types and rights of all that users of SQL see.
struct PublicSchemaTests {
    /// The condition for a relation or function that users may rely on; `$` stands for its oid and catalog.
    private static func isPublic(_ oid: String, _ catalog: String) -> String {
        "obj_description(\(oid), '\(catalog)') like 'public: %'"
    }

    private static let relations = """
        select c.oid, c.relname, c.relkind, c.relacl, c.relowner from pg_class c
         where c.relnamespace = 'postrider'::regnamespace and c.relkind in ('r', 'p', 'v') and \(isPublic("c.oid", "pg_class"))
        """
    private static let functions = """
        select p.* from pg_proc p where p.pronamespace = 'postrider'::regnamespace and \(isPublic("p.oid", "pg_proc"))
        """

    private func expect(_ list: String, _ sql: String) throws {
        let queue = try TestQueue()
        let lines = try queue.rows(sql).compactMap { $0[0] }
        #expect(try KeptList("Tests/PublicSurfaceTests/Lists/\(list).txt").difference(from: lines) == [])
    }

    @Test func `tables and views have the columns and types of the list`() throws {
        try expect(
            "columns",
            """
            select format('%s %s.%s %s%s', case when r.relkind = 'v' then 'view' else 'table' end, r.relname, a.attname,
                          format_type(a.atttypid, a.atttypmod),
                          case when a.attidentity <> '' then ' identity' else ' default ' || pg_get_expr(d.adbin, d.adrelid) end)
              from (\(Self.relations)) r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
              left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
            """)
    }

    @Test func `functions have the parameters and results of the list`() throws {
        try expect(
            "functions",
            """
            select format('%s(%s) returns %s', p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid))
              from (\(Self.functions)) p
            """)
    }

    @Test func `each role may do with public objects what the list says`() throws {
        try expect(
            "rights",
            """
            select format('%s %s %s', g.rolname, o.name, lower(string_agg(distinct a.privilege_type, ', ' order by a.privilege_type)))
              from (select r.relname::text as name, r.relacl as acl, r.relowner as owner from (\(Self.relations)) r
                     union all
                    select p.proname || '()', p.proacl, p.proowner from (\(Self.functions)) p
                     union all
                    select r.relname || '.' || a.attname, a.attacl, r.relowner
                      from (\(Self.relations)) r join pg_attribute a on a.attrelid = r.oid and a.attacl is not null) o
             cross join lateral aclexplode(o.acl) a
              join pg_roles g on g.oid = a.grantee and g.oid <> o.owner
             group by o.name, g.rolname
            """)
    }

    @Test func `error codes are those of the list`() throws {
        try expect(
            "error-codes",
            "select format('%s %s %s %s', code, number, class, case when retryable then 'retryable' else 'final' end) from postrider.error_codes"
        )
    }

    @Test func `job states are those of the contract`() throws {
        let queue = try TestQueue()
        let error = #expect(throws: PGError.self) { _ = try queue.rows("select postrider.newest_jobs('none')") }
        #expect(
            error?.hint
                == "One of waiting, scheduled, ready, running, succeeded, failed, cancelled, expired, skipped, unknown."
        )
    }
}
