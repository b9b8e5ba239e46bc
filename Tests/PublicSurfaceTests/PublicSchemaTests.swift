// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The kept lists hold the names, types and rights of the public SQL objects.
struct PublicSchemaTests {
    private static let relations = """
        select c.oid, c.relname, c.relkind, c.relacl, c.relowner from pg_class c
         where c.relnamespace = 'postrider'::regnamespace and c.relkind in ('r', 'p', 'v')
        """
    private static let functions = """
        select p.* from pg_proc p where p.pronamespace = 'postrider'::regnamespace
        """

    private func expect(_ list: String, _ sql: String) throws {
        let queue = try TestQueue()
        let lines = try queue.rows(sql).compactMap { $0[0] }
        #expect(try KeptList("Tests/PublicSurfaceTests/Lists/\(list).txt").difference(from: lines) == [])
    }

    @Test func `columns and types of tables and views match the kept list`() throws {
        try expect(
            "columns",
            """
            select format('%s %s.%s %s%s', case when r.relkind = 'v' then 'view' else 'table' end, r.relname, a.attname,
                          format_type(a.atttypid, a.atttypmod),
                          case when a.attidentity <> '' then ' identity'
                            else ' default ' || pg_get_expr(d.adbin, d.adrelid) end)
              from (\(Self.relations)) r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0
                and not a.attisdropped
              left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
            """)
    }

    @Test func `parameters and results of functions match the kept list`() throws {
        try expect(
            "functions",
            """
            select format('%s(%s) returns %s', p.proname, pg_get_function_arguments(p.oid),
                          pg_get_function_result(p.oid))
              from (\(Self.functions)) p
            """)
    }

    @Test func `rights of each role on public objects match the kept list`() throws {
        try expect(
            "rights",
            """
            select format('%s %s %s', g.rolname, o.name,
                          lower(string_agg(distinct a.privilege_type, ', ' order by a.privilege_type)))
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

    /// One line for each object of `postrider_internal`: the roles and their rights.
    ///
    /// By rule, all four roles may execute a function that runs as its caller and is no trigger. Such functions are
    /// left out.
    @Test func `rights of each role on internal objects match the kept list`() throws {
        try expect(
            "internal-rights",
            """
            select o.name || ': ' || string_agg(o.role || ' ' || o.privileges, '; ' order by o.role)
              from (select o.name, replace(g.rolname, 'postrider_', '') as role, o.is_plain,
                    count(*) over (partition by o.name) as roles,
                           lower(string_agg(a.privilege_type, ', ' order by a.privilege_type)) as privileges
                      from (select 'schema ' || nspname as name, nspacl as acl, nspowner as owner, false as is_plain
                              from pg_namespace where nspname like 'postrider%'
                             union all
                            select c.relname, c.relacl, c.relowner, false from pg_class c
                             where c.relnamespace = 'postrider_internal'::regnamespace
                               and c.relkind in ('r', 'p', 'v', 'S')
                               and not c.relispartition
                             union all
                            select p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', p.proacl,
                                   p.proowner,
                                   not p.prosecdef and p.prorettype <> 'trigger'::regtype
                              from pg_proc p where p.pronamespace = 'postrider_internal'::regnamespace) o
                     cross join lateral aclexplode(o.acl) a
                      join pg_roles g on g.oid = a.grantee and g.oid <> o.owner
                     group by o.name, g.rolname, o.is_plain) o
             where not (o.is_plain and o.roles = 4)
             group by o.name
            """)
    }

    @Test func `the public schema contains only tables, sequences, views and functions`() throws {
        let queue = try TestQueue()
        let others = try queue.rows(
            """
            select pg_describe_object(d.classid, d.objid, 0) from pg_depend d left join pg_class c on c.oid = d.objid
             where d.refclassid = 'pg_namespace'::regclass and d.refobjid = 'postrider'::regnamespace
               and d.classid <> 'pg_proc'::regclass
                 and (d.classid <> 'pg_class'::regclass or c.relkind not in ('r', 'p', 'v', 'S'))
            """)
        #expect(others == [])
    }

    @Test func `error codes match the kept list`() throws {
        try expect(
            "error-codes",
            "select format('%s %s %s %s', code, number, class, case when retryable then 'retryable' else 'final' end) from postrider.error_codes"
        )
    }

    @Test func `newest_jobs lists the ten job states in its hint`() throws {
        let queue = try TestQueue()
        let error = #expect(throws: PGError.self) { _ = try queue.rows("select postrider.newest_jobs('none')") }
        #expect(
            error?.hint
                == "One of waiting, scheduled, ready, running, succeeded, failed, cancelled, expired, skipped, unknown."
        )
    }
}
