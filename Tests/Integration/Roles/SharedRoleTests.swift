// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport
import Testing

/// Several owners on one server share the roles, which belong to the first login that made them.
///
/// From PostgreSQL 16 on, only a login with the admin option of a role may grant it. Before, every login with
/// CREATEROLE could.
struct SharedRoleTests {
    /// A separate server, because roles belong to the whole server.
    private struct Server {
        let cluster: PrivateCluster

        init() throws {
            cluster = try PrivateCluster()
        }

        /// Runs statements as the superuser.
        func execute(_ sql: String, _ name: String = "postgres") throws {
            try PGConnection(cluster.connectionString(database: name)).execute(sql)
        }

        func database(_ name: String, as login: String) -> String {
            cluster.connectionString(database: name).replacing("user=postgres", with: "user=\(login)")
        }

        func migrate(_ name: String, as login: String) throws -> WorkerProcess.Outcome {
            try WorkerProcess.run(["migrate", "--database", database(name, as: login)])
        }

        /// The program's message for a login that may not run jobs, by `run` and by `doctor`.
        func missingRight(_ name: String, as login: String) throws -> String {
            let database = database(name, as: login)
            let run = try WorkerProcess.run(["run", "--database", database])
            let doctor = try WorkerProcess.run(["doctor", "--database", database])
            let start = "worker: --database: \(login) may not run jobs; "
            #expect(run.status == 64 && run.output.hasPrefix(start), "\(run)")
            let reason = String(run.output.dropFirst(start.count).dropLast())
            #expect(
                doctor.status == 1 && doctor.output.hasSuffix("\(login) may not run jobs; \(reason)\n"), "\(doctor)")
            return reason
        }

        func owners(_ name: String) throws -> [String] {
            let result = try PGConnection(cluster.connectionString(database: name)).query(
                """
                select nspowner::regrole::text from pg_namespace where nspname in ('postrider', 'postrider_internal')
                union select relowner::regrole::text from pg_class
                  where relnamespace = any (postrider_internal.own_schemas())
                union select proowner::regrole::text from pg_proc
                  where pronamespace = any (postrider_internal.own_schemas())
                order by 1
                """)
            return (0..<result.rowCount).map { result.text($0, 0) }
        }
    }

    private static let grantsByAdminOption = (try? TestCluster.version) ?? 0 >= 16

    /// The output of `migrate` if no migration is pending and the roles are correct.
    private static let isUpToDate = WorkerProcess.Outcome(status: 0, output: "the schema is up to date\n")

    @Test func `migrate by a second owner grants all rights, keeps the owner and prints the missing grant`() throws {
        let server = try Server()
        try server.execute(
            "create role own login createrole; create role own2 login; create role fleet login")
        try server.execute("create role shop login; create role oncall login; create role boss login")
        try server.execute("create database a owner own")
        try server.execute("create database b owner own2")
        if Self.grantsByAdminOption { try server.execute("alter role own2 createrole") }
        #expect(try server.migrate("a", as: "own").output.hasSuffix("the schema is up to date now\n"))
        try PGConnection(server.database("a", as: "own")).execute(
            "grant postrider_worker to fleet; grant postrider_client to shop; grant postrider_admin to oncall")

        let first = try server.migrate("b", as: "own2")
        let reason =
            Self.grantsByAdminOption
            ? "permission denied to grant role \"postrider_owner\""
            : "must have admin option on role \"postrider_owner\""
        let who = Self.grantsByAdminOption ? "own" : "a role with CREATEROLE"
        let note = """
            the roles have their rights, but postrider_owner does not own all of the schema: \(reason); as \(who) or a superuser: \
            grant postrider_owner to own2; then migrate again, or with --no-roles

            """
        #expect(first.status == 0 && first.output.hasSuffix("the schema is up to date now\n" + note), "\(first)")
        #expect(try server.owners("b") == ["own2"])
        #expect(try server.migrate("b", as: "own2") == .init(status: 0, output: Self.isUpToDate.output + note))

        // Each login has the rights that it needs.
        let shop = try PGConnection(server.database("b", as: "shop"))
        try shop.execute("insert into postrider.jobs (url) values ('http://h/')")
        #expect(try shop.query("select state from postrider.job_status").text(0, 0) == "ready")
        #expect(TestRole.refusal(of: "select * from postrider.jobs", shop) == "42501")
        let doctor = try WorkerProcess.run(["doctor", "--database", server.database("b", as: "fleet")])
        #expect(doctor.status == 0, "\(doctor)")
        let oncall = try PGConnection(server.database("b", as: "oncall"))
        try oncall.execute("select postrider.pause_queue('default')")
        // No login runs functions of the application as the owner of the schema.
        for login in ["oncall", "fleet"] {
            let session = try PGConnection(server.database("b", as: login))
            #expect(TestRole.refusal(of: "select postrider.rerun_callback(1)", session) == "42501")
        }

        try PGConnection(server.database("a", as: "own")).execute("grant postrider_owner to own2")
        for _ in 1...2 {
            #expect(try server.migrate("b", as: "own2") == Self.isUpToDate)
            #expect(try server.owners("b") == ["postrider_owner"])
        }
        #expect(TestRole.refusal(of: "select postrider.rerun_callback(1)", oncall) == "PR005")
    }

    @Test func `run and doctor name the missing grant and the role that can give it`() throws {
        let server = try Server()
        try server.execute(
            "create role own login createrole; create role own2 login; create role fleet login")
        try server.execute("create database a owner own")
        try server.execute("create database b owner own2")
        let bare = try WorkerProcess.run(["migrate", "--no-roles", "--database", server.database("b", as: "own2")])
        #expect(bare.status == 0)
        #expect(
            try server.missingRight("b", as: "fleet")
                == "there is no role postrider_worker; run worker migrate as a role with CREATEROLE, or connect as own2"
        )
        #expect(try server.migrate("a", as: "own").status == 0)
        let who = Self.grantsByAdminOption ? "own" : "a role with CREATEROLE"
        let grant = "as \(who) or a superuser: grant postrider_worker to fleet"
        #expect(try server.missingRight("a", as: "fleet") == grant)
        let here = "postrider_worker has no rights in this database; as own2: worker migrate"
        #expect(try server.missingRight("b", as: "fleet") == "\(here); and \(grant)")
        try PGConnection(server.database("a", as: "own")).execute("grant postrider_worker to fleet")
        #expect(try server.missingRight("b", as: "fleet") == here)
        // If only a superuser can help, the message names a superuser. An upgrade of PostgreSQL from 15 leads to that.
        try server.execute("create role fleet2 login noinherit")
        if Self.grantsByAdminOption {
            try server.execute("revoke admin option for postrider_worker from own cascade")
            let grant = "as a superuser: grant postrider_worker to fleet2 with inherit true"
            #expect(try server.missingRight("a", as: "fleet2") == grant)
            try server.execute("grant postrider_worker to fleet2")
            #expect(try server.missingRight("a", as: "fleet2") == grant)
            try server.execute("grant postrider_worker to fleet2 with inherit true")
        } else {
            let start = "as a role with CREATEROLE or a superuser: "
            let alter = "alter role fleet2 inherit"
            let grant = "grant postrider_worker to fleet2; \(alter)"
            #expect(try server.missingRight("a", as: "fleet2") == start + grant)
            try server.execute("grant postrider_worker to fleet2")
            #expect(try server.missingRight("a", as: "fleet2") == start + alter)
            try server.execute(alter)
        }
        let doctor = try WorkerProcess.run(["doctor", "--database", server.database("a", as: "fleet2")])
        #expect(doctor.status == 0, "\(doctor)")
    }

    @Test(
        .enabled(if: grantsByAdminOption, "memberships have options from PostgreSQL 16 on"),
        arguments: ["inherit", "set", "set, inherit", ""])
    func `migrate moves the schema to postrider_owner under every createrole_self_grant setting`(
        selfGrant: String
    ) throws {
        let server = try Server()
        try server.execute("create role maker login createrole")
        try server.execute("alter role maker set createrole_self_grant = '\(selfGrant)'")
        try server.execute("create database one owner maker")
        let outcome = try server.migrate("one", as: "maker")
        #expect(outcome.status == 0 && outcome.output.hasSuffix("the schema is up to date now\n"), "\(outcome)")
        #expect(try server.owners("one") == ["postrider_owner"])
        #expect(try server.migrate("one", as: "maker") == Self.isUpToDate)
    }

    @Test(
        .enabled(if: grantsByAdminOption, "memberships have options from PostgreSQL 16 on"),
        arguments: ["inherit false", "set false", "inherit false, set false"])
    func `migrate repairs a membership without options if its login may, and otherwise names the grant`(options: String)
        throws
    {
        let server = try Server()
        try server.execute("create role maker login createrole; create role other login")
        try server.execute("create database one owner maker")
        #expect(try server.migrate("one", as: "maker").status == 0)
        // The role's maker has granted the role to itself.
        let maker = try PGConnection(server.database("one", as: "maker"))
        try maker.execute("grant postrider_owner to maker with \(options)")
        // As if the function were new in this version.
        try server.execute("grant create on database one to other, postrider_owner")
        let renew = """
            drop function postrider_internal.reap(int, bigint);
            delete from postrider.migrations where name = 'functions/workers/reap.sql'
            """
        try server.execute(renew, "one")
        let outcome = try server.migrate("one", as: "maker")
        #expect(
            outcome
                == .init(status: 0, output: "applied  functions: 1\nthe schema is up to date now\n"))
        #expect(try server.owners("one") == ["postrider_owner"])

        // A login that may not repair its schema gets a message that names a login that may.
        try maker.execute("grant postrider_owner to other with \(options)")
        try server.execute(renew, "one")
        let refused = try server.migrate("one", as: "other")
        let remedy = "as maker or a superuser: grant postrider_owner to other with inherit true, set true"
        #expect(refused.output.contains(remedy), "\(refused)")
        try maker.execute("grant postrider_owner to other with inherit true, set true")
        #expect(try server.migrate("one", as: "other").status == 0)
        #expect(try server.owners("one") == ["postrider_owner"])
    }

    @Test func `migrate by a login without INHERIT changes the owner, or prints a hint before PostgreSQL 16`() throws {
        let server = try Server()
        try server.execute("create role maker login createrole noinherit")
        try server.execute("create database one owner maker")
        let outcome = try server.migrate("one", as: "maker")
        let note = """
            the roles have their rights, but postrider_owner does not own all of the schema: maker does not inherit the \
            rights of postrider_owner; as a role with CREATEROLE or a superuser: grant postrider_owner to maker; \
            alter role maker inherit; then migrate again, or with --no-roles

            """
        let end = "the schema is up to date now\n" + (Self.grantsByAdminOption ? "" : note)
        #expect(outcome.status == 0 && outcome.output.hasSuffix(end), "\(outcome)")
        #expect(try server.owners("one") == [Self.grantsByAdminOption ? "postrider_owner" : "maker"])
        if !Self.grantsByAdminOption {
            try PGConnection(server.database("one", as: "maker")).execute("alter role maker inherit")
        }
        #expect(try server.migrate("one", as: "maker") == Self.isUpToDate)
        #expect(try server.owners("one") == ["postrider_owner"])
    }

    @Test func `migrate by an unrelated login fails and names the role that can migrate`() throws {
        let server = try Server()
        try server.execute(
            "create role own login createrole; create role own2 login; create role fellow login")
        try server.execute("create database a owner own")
        try server.execute("create database b owner own2")
        try server.execute("grant create on database a to fellow; grant create on database b to fellow")
        #expect(try server.migrate("a", as: "own").status == 0)
        #expect(try server.migrate("b", as: "own2").status == 0)
        let who = Self.grantsByAdminOption ? "own" : "a role with CREATEROLE"
        let ofOwner = try server.migrate("a", as: "fellow")
        #expect(ofOwner.status == 64)
        #expect(ofOwner.output.hasSuffix("; as \(who) or a superuser: grant postrider_owner to fellow\n"), "\(ofOwner)")
        let ofLogin = try server.migrate("b", as: "fellow")
        #expect(ofLogin.status == 64)
        #expect(ofLogin.output.hasSuffix("; the schema belongs to own2, migrate as that role\n"), "\(ofLogin)")
        // Before PostgreSQL 16, a login with CREATEROLE can grant itself the role.
        try server.execute("alter role fellow createrole")
        if !Self.grantsByAdminOption {
            #expect(try server.migrate("a", as: "fellow") == Self.isUpToDate)
        }
    }
}
