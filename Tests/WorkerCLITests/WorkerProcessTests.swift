// SPDX-License-Identifier: Apache-2.0

import Glibc
import Migrations
import PGClient
import TestSupport
import Testing

struct WorkerProcessTests {
    @Test(arguments: [
        ["--concurrency", "0"], ["run", "--concurrency", "x"], ["--no-such-flag"], ["frobnicate"], ["show", "zero"],
        ["--files", "/no/such/directory"], ["--files", "/etc/passwd"],
    ])
    func `an invalid command line ends with 64 and prints one line`(words: [String]) throws {
        let outcome = try WorkerProcess.run(words)
        #expect(outcome.status == 64)
        #expect(outcome.output.hasPrefix("worker: "))
        #expect(outcome.output.split(separator: "\n").count == 1)
    }

    @Test(arguments: [
        (["help"], ["--help"]), (["help", "jobs"], ["jobs", "--help"]), (["version"], ["--version"]),
    ])
    func `help and version work as commands and as flags`(words: [String], flags: [String]) throws {
        let outcome = try WorkerProcess.run(words)
        #expect(outcome.status == 0 && outcome.output.count > 10)
        #expect(try WorkerProcess.run(flags) == outcome)
        #expect(try WorkerProcess.run(["help", "jbos"]).output.contains("did you mean jobs?"))
    }

    @Test(arguments: [
        (
            ["--http", "localhost:80"],
            "--http: \"localhost:80\": it does not begin with an IP address; give one like 127.0.0.1:9464"
        ),
        (
            ["--http", "0.0.0.0:9464"],
            "--http: 0.0.0.0:9464 can be reached from other machines; give a token with --http-token-file, or an address like 127.0.0.1:9464"
        ),
        (
            ["--http", "[::1]:9464", "--http-token-file", "/nowhere"],
            "--http-token-file: its file cannot be read: No such file or directory; give the path of a file that holds 16 random characters or more, like openssl rand -hex 32 prints them"
        ),
    ])
    func `an invalid --http or token file is refused with the flag and a remedy`(words: [String], line: String) throws {
        let outcome = try WorkerProcess.run(words, ["POSTRIDER_DATABASE": "host=/nowhere"])
        #expect(outcome == WorkerProcess.Outcome(status: 64, output: "worker: \(line)\n"))
    }

    @Test func `a token shorter than 16 characters is refused without being shown`() throws {
        let outcome = try WorkerProcess.run(["--http", "127.0.0.1:9464"], ["POSTRIDER_HTTP_TOKEN": "geheim"])
        #expect(outcome.status == 64)
        #expect(outcome.output.hasPrefix("worker: POSTRIDER_HTTP_TOKEN: the token is shorter than 16 characters; "))
        #expect(!outcome.output.contains("geheim"))
    }

    @Test(arguments: [
        ["POSTRIDER_HTTP_TOKEN": "geheim"], ["POSTRIDER_HTTP_TOKEN_FILE": "/nowhere"], ["POSTRIDER_HTTP": "9464"],
    ])
    func `an invalid HTTP variable is named even if no pages are served`(environment: [String: String]) throws {
        let outcome = try WorkerProcess.run(["--database", "host=/nowhere"], environment)
        #expect(outcome.status == 64)
        #expect(outcome.output.hasPrefix("worker: \(environment.keys.first ?? ""): "), "\(outcome.output)")
    }

    @Test func `an --http address already in use ends with 64 and a message`() throws {
        let queue = try TestQueue()
        let taken = try TargetServer()
        let address = String(taken.url.dropFirst("http://".count))
        let outcome = try WorkerProcess.run(["--http", address], ["POSTRIDER_DATABASE": queue.database])
        #expect(outcome.status == 64)
        #expect(
            outcome.output.contains("--http: \(address) cannot be bound: Address already in use; give one that is free")
        )
        withExtendedLifetime(taken) {}
    }

    @Test(arguments: [
        ["migrate", "postgresql://app:geheim@db/app"], ["postgresql://app:geheim@db/app"], ["--queue", "a", "geheim"],
        ["credential", "set", "shop", "geheim"], ["--secret-key-file", "geheim"], ["--webhook-secret-file", "geheim"],
        ["--http", "127.0.0.1:0", "--http-token-file", "geheim"], ["--concurrency", "postgresql://app:geheim@db/app"],
        ["--files", "postgresql://app:geheim@db/app"], ["show", "postgresql://app:geheim@db/app"],
    ])
    func `a secret in a wrong argument is not shown`(words: [String]) throws {
        let outcome = try WorkerProcess.run(words, ["POSTRIDER_DATABASE": "host=/nowhere"])
        #expect(outcome.status == 64, "\(outcome)")
        #expect(!outcome.output.contains("geheim"), "\(outcome)")
    }

    @Test func `a bad connection string is named by its flag or variable`() throws {
        for (words, variables, place) in [
            (["jobs", "--database", "mysql://h/"], [:], "--database"),
            (["jobs"], ["POSTRIDER_DATABASE": "mysql://h/"], "POSTRIDER_DATABASE"),
            (["jobs"], ["DATABASE_URL": "mysql://h/"], "DATABASE_URL"),
        ] {
            let outcome = try WorkerProcess.run(words, variables)
            #expect(outcome.status == 64)
            #expect(outcome.output.hasPrefix("worker: \(place): "), "\(outcome)")
        }
    }

    @Test(arguments: [["--help"], ["migrate", "--help"], ["run", "--concurrency", "x", "--help"]])
    func `--help ends with 0 at any place of the command line`(words: [String]) throws {
        let outcome = try WorkerProcess.run(words)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("usage: worker "))
    }

    @Test(arguments: [["run"], ["migrate"], ["jobs"]])
    func `an unreachable database ends with 69 without showing the password`(words: [String]) throws {
        let outcome = try WorkerProcess.run(
            words, ["POSTRIDER_DATABASE": "postgresql://me:geheim@127.0.0.1:1/none"])
        #expect(outcome.status == 69)
        #expect(outcome.output.hasPrefix("worker: database cannot be reached: "))
        #expect(!outcome.output.contains("geheim"))
    }

    @Test func `a database without the schema ends with 78 and a hint to migrate`() throws {
        let database = try TestCluster.makeDatabaseText()
        for words in [["run"], ["jobs"], ["migrate", "--status"]] {
            let outcome = try WorkerProcess.run(words, ["POSTRIDER_DATABASE": database])
            #expect(outcome.status == 78)
            #expect(outcome.output.contains("run: worker migrate"))
        }
        let migrated = try WorkerProcess.run(["migrate"], ["POSTRIDER_DATABASE": database])
        #expect(migrated.status == 0)
        #expect(migrated.output.hasPrefix("applied  0001_settings.sql\n"))
        #expect(
            migrated.output.contains(
                try Regex("\napplied  functions: [0-9]+\napplied  views: [0-9]+\nthe schema is up")))
        let status = try WorkerProcess.run(["migrate", "--status"], ["POSTRIDER_DATABASE": database])
        #expect(status.status == 0)
        #expect(status.output.contains("applied  0001_settings.sql\n"))
    }

    @Test func `a database of an unreleased version is refused with 78 and stays unchanged`() throws {
        let text = try TestCluster.makeDatabaseText()
        #expect(try WorkerProcess.run(["migrate"], ["POSTRIDER_DATABASE": text]).status == 0)
        let connection = try PGConnection(text)
        try connection.execute(
            "update postrider.migrations set name = '0001_schema.sql' where name = '0001_settings.sql'")
        let history = "select md5(string_agg(name || applied_at, ' ' order by name)) from postrider.migrations"
        let before = try connection.query(history).text(0, 0)
        let migrated = try WorkerProcess.run(["migrate"], ["POSTRIDER_DATABASE": text])
        #expect(
            migrated
                == .init(
                    status: 78,
                    output: "worker: an unreleased version made this schema, so it cannot be upgraded; "
                        + "nothing was changed; create a new database and run: worker migrate\n"))
        for words in [["run"], ["migrate", "--status"]] {
            let outcome = try WorkerProcess.run(words, ["POSTRIDER_DATABASE": text])
            #expect(outcome.status == 78)
            #expect(outcome.output.contains("(0001_schema.sql), so it cannot be upgraded; create a new database"))
        }
        #expect(try connection.query(history).text(0, 0) == before)
    }

    @Test func `migrate --print shows a file as it is applied, without a database`() throws {
        let shown = try WorkerProcess.run(["migrate", "--print", "functions/queue/claim.sql"], [:])
        #expect(shown.status == 0)
        #expect(shown.output.contains("create or replace function postrider_internal.claim("))
        #expect(shown.output.contains("\nset jit = off\nset plan_cache_mode = force_generic_plan\n"))
        let unknown = try WorkerProcess.run(["migrate", "--print", "claim.sql"], [:])
        #expect(unknown.status == 64)
        #expect(unknown.output.hasPrefix("worker: --print: there is no file claim.sql; "), "\(unknown.output)")
    }

    @Test func `a killed migrator leaves no schema changes and no lock`() throws {
        let text = try TestCluster.makeDatabaseText()
        let connection = try PGConnection(text)
        // An uncommitted row of the last file stops the migrator there, after it has applied all other files.
        let last = try #require(Migrations.all.map(\.name).filter { $0.hasPrefix("views/") }.max())
        try connection.execute(
            """
            create schema postrider; create schema postrider_internal;
            create table postrider.migrations (name text primary key, checksum text not null,
              applied_at timestamptz not null default now(), worker_version text not null,
              breaking boolean not null default true);
            """)
        let blocker = try PGConnection(text)
        try blocker.execute(
            """
            begin;
            insert into postrider.migrations (name, checksum, worker_version, breaking)
            values ('\(last)', '', '0.0.0', false)
            """)
        let process = try WorkerProcess.start(["migrate"], ["POSTRIDER_DATABASE": text])
        let waiting = """
            select 1 from pg_stat_activity
            where application_name = 'worker migrate' and datname = current_database() and wait_event_type = 'Lock'
            """
        try TestClock.wait(20, for: "the migrator to wait") { try connection.query(waiting).rowCount > 0 }
        #expect(WorkerProcess.end(process, signal: SIGKILL) == 128 + SIGKILL)
        try blocker.execute("rollback")

        let migrated = try WorkerProcess.run(["migrate"], ["POSTRIDER_DATABASE": text])
        #expect(migrated.status == 0)
        #expect(migrated.output.contains("applied  0001_settings.sql\n"))
    }

    @Test func `output that cannot be written to standard output ends with 70`() throws {
        let folder = try TestFolder()
        let told = try folder.shell("\(WorkerProcess.path) --help 2>&1 >/dev/full || echo $?")
        #expect(
            told
                == "worker: standard output: No space left on device; the command is done, but its output is incomplete\n70\n"
        )
    }

    @Test func `migrate refuses a database of another encoding with the statement for a new database`() throws {
        let database = try TestCluster.makeDatabaseText()
        let name = TestCluster.name(of: database)
        try PGConnection(database).execute("create database \(name)_latin encoding 'LATIN1' template template0")
        let outcome = try WorkerProcess.run(["migrate", "--database", database + "_latin"])
        #expect(outcome.status == 70)
        #expect(
            outcome.output
                == "worker: the database's encoding is LATIN1, and the schema needs UTF8; create one with: create database NAME encoding 'UTF8' template template0\n"
        )
    }
}
