// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport
import Testing

/// The roles that may migrate, and the roles and owners afterwards.
///
/// Roles belong to the whole server, so each test has its own.
struct MigrateRoleTests {
    private static let owners = """
        select distinct owner::regrole::text from (
          select nspowner as owner from pg_namespace where nspname in ('postrider', 'postrider_internal')
          union all select relowner from pg_class
            where relnamespace = any (postrider_internal.own_schemas())
          union all select proowner from pg_proc
            where pronamespace = any (postrider_internal.own_schemas())
          union all select typowner from pg_type
            where typnamespace = any (postrider_internal.own_schemas())) o order by 1
        """
    private static let roles = "select rolname::text from pg_roles where rolname like 'postrider%' order by 1"

    private static func rows(_ sql: String, _ database: String) throws -> [String] {
        let result = try PGConnection(database).query(sql)
        return (0..<result.rowCount).map { result.text($0, 0) }
    }

    @Test func `a schema migrated with --no-roles moves to postrider_owner at the next full migrate`() throws {
        let server = try PrivateCluster()
        let database = server.connectionString()
        let bare = try WorkerProcess.run(["migrate", "--no-roles", "--database", database])
        #expect(bare.status == 0)
        #expect(try Self.rows(Self.roles, database) == [])
        #expect(try Self.rows(Self.owners, database) == ["postgres"])
        try PGConnection(database).execute(
            "insert into postrider.jobs (url, run_at) values ('http://h/', now() + interval '1 day')")
        #expect(try Self.rows("select state from postrider.job_status", database) == ["scheduled"])
        let whole = try WorkerProcess.run(["migrate", "--database", database])
        #expect(whole == .init(status: 0, output: "the schema is up to date\n"))
        let expected = ["admin", "client", "owner", "reader", "worker"].map { "postrider_\($0)" }
        #expect(try Self.rows(Self.roles, database) == expected)
        #expect(try Self.rows(Self.owners, database) == ["postrider_owner"])
        #expect(try Self.rows("select postrider.explain(1)", database)[0].hasPrefix("Job 1 is scheduled"))
    }

    /// Objects with a wrong owner, objects that every role may use, and objects that a worker may not use.
    private static let faults = """
        select object from postrider_internal.not_owned_by('postrider_owner')
        union all
        select p.oid::regprocedure::text from pg_proc p
         where p.pronamespace = any (postrider_internal.own_schemas())
           and (not has_function_privilege('postrider_worker', p.oid, 'execute')
                    and p.proname not in ('act_on_jobs', 'cancel_as', 'pause_lane_as', 'record_admin_action')
                or exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                           where a.grantee = 0))
        union all
        select c.relname::text from pg_class c
         where c.relnamespace = any (postrider_internal.own_schemas())
           and c.relkind in ('r', 'p', 'v')
           and not has_table_privilege('postrider_worker', c.oid, 'select')
        order by 1
        """

    @Test func `a full migrate takes over objects that --no-roles left to a superuser`() throws {
        let server = try PrivateCluster()
        let database = server.connectionString()
        #expect(try WorkerProcess.run(["migrate", "--database", database]).status == 0)
        #expect(try Self.rows(Self.faults, database) == [])
        // As if the function and the table were new in this version.
        try PGConnection(database).execute(
            """
            drop function postrider_internal.reap(int, bigint);
            delete from postrider.migrations where name = 'functions/workers/reap.sql';
            alter table postrider_internal.ready owner to postgres;
            revoke all on postrider_internal.ready from public, postrider_worker
            """)
        #expect(try WorkerProcess.run(["migrate", "--no-roles", "--database", database]).status == 0)
        #expect(
            try Self.rows(Self.faults, database) == [
                "function postrider_internal.reap(integer,bigint)", "postrider_internal.reap(integer,bigint)", "ready",
                "table postrider_internal.ready",
            ])
        for _ in 1...2 {
            let whole = try WorkerProcess.run(["migrate", "--database", database])
            #expect(whole == .init(status: 0, output: "the schema is up to date\n"))
            #expect(try Self.rows(Self.faults, database) == [])
        }
        #expect(
            try Self.rows(
                "select has_table_privilege('postrider_worker', 'postrider_internal.ready', 'update')::text", database)
                == ["true"])
    }

    @Test func `migrate restores the privileges after a restore without privileges`() throws {
        let server = try PrivateCluster()
        let first = server.connectionString()
        #expect(try WorkerProcess.run(["migrate", "--database", first]).status == 0)
        try PGConnection(first).execute("insert into postrider.jobs (url) values ('http://h/')")
        try PGConnection(first).execute("create database two")
        let second = server.connectionString(database: "two")
        let bin = try ServerBinaries.find().directory
        let copy = try ChildProcess.run([
            "/bin/sh", "-c", #""$0"/pg_dump -Fc --no-acl -d "$1" | "$0"/pg_restore --no-acl -e -d "$2""#, bin, first,
            second,
        ])
        #expect(copy.status == 0, "\(copy.output)")
        #expect(try Self.rows(Self.faults, second).count > 300)
        let whole = try WorkerProcess.run(["migrate", "--database", second])
        #expect(whole == .init(status: 0, output: "the schema is up to date\n"))
        #expect(try Self.rows(Self.faults, second) == [])
        #expect(
            try Self.rows(
                "select has_column_privilege('postrider_client', 'postrider.jobs', 'url', 'insert')::text", second)
                == ["true"])
        #expect(try Self.rows("select state from postrider.job_status", second) == ["ready"])
    }

    @Test func `two concurrent migrates on one server create the roles together`() throws {
        let server = try PrivateCluster()
        try PGConnection(server.connectionString()).execute("create database one")
        try PGConnection(server.connectionString()).execute("create database two")
        let databases = ["one", "two"].map { server.connectionString(database: $0) }
        let runs = databases.map { database in
            BackgroundThread { _ = try? WorkerProcess.run(["migrate", "--database", database]) }
        }
        for run in runs { run.join() }
        for database in databases {
            let again = try WorkerProcess.run(["migrate", "--database", database])
            #expect(again == .init(status: 0, output: "the schema is up to date\n"))
            #expect(try Self.rows(Self.owners, database) == ["postrider_owner"])
            #expect(
                try Self.rows(
                    "select has_table_privilege('postrider_worker', 'postrider_internal.ready', 'update')::text",
                    database)
                    == ["true"])
        }
    }

    @Test func `migrate works without CREATEROLE but leaves roles alone, and needs no superuser with CREATEROLE`()
        throws
    {
        let server = try PrivateCluster()
        let superuser = try PGConnection(server.connectionString())
        try superuser.execute("create role plain login; create role maker login createrole")
        try superuser.execute("create database one owner plain")
        try superuser.execute("create database two owner maker")
        let one = server.connectionString(database: "one").replacing("user=postgres", with: "user=plain")
        let two = server.connectionString(database: "two").replacing("user=postgres", with: "user=maker")
        let plain = try WorkerProcess.run(["migrate", "--database", one])
        #expect(plain.status == 0)
        #expect(
            plain.output.hasSuffix(
                """
                the schema is up to date now
                roles and privileges stay as they are: permission denied to create role; migrate as a role with CREATEROLE, or \
                with --no-roles

                """))
        #expect(try Self.rows(Self.owners, one) == ["plain"])
        try PGConnection(one).execute("insert into postrider.jobs (url) values ('http://h/')")
        #expect(try Self.rows("select state from postrider.job_status", one) == ["ready"])
        for output in ["the schema is up to date now\n", "the schema is up to date\n"] {
            let maker = try WorkerProcess.run(["migrate", "--database", two])
            #expect(maker.status == 0)
            #expect(maker.output.hasSuffix(output), "\(maker.output.suffix(300))")
        }
        #expect(try Self.rows(Self.owners, two) == ["postrider_owner"])
        #expect(try Self.rows("select postrider.submit('{\"url\": \"http://h/\"}')::text", two) == ["1"])
    }
}
