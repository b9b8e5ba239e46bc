// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Logins and databases with `default_transaction_read_only` on.
///
/// Commands that read still work. The errors of commands that write name the setting.
struct ReadOnlyDefaultTests {
    private let off = "set default_transaction_read_only = off"
    private let on = "set default_transaction_read_only = on"

    @Test func `a role with read-only default transactions can use all reading commands`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            "create role test_reports login in role postrider_reader; alter role test_reports \(on)")
        let id = try queue.insert("url, run_at, tag", "'http://h/', '2100-01-01', 'far'")
        let ended = try queue.insert("url, run_at", "'http://h/', '2100-01-01'")
        try queue.connection.execute("select postrider.cancel(\(ended))")
        let database = queue.database.replacing("user=postgres", with: "user=test_reports")
        func run(_ words: String..., beside: String = "") throws -> WorkerProcess.Outcome {
            try WorkerProcess.run(words + ["--database", database + beside])
        }
        for words in [
            ["jobs"], ["jobs", "--json"], ["jobs", "--state", "scheduled"], ["show", "\(id)"], ["explain", "\(id)"],
            ["migrate", "--status"],
        ] {
            let outcome = try WorkerProcess.run(words + ["--database", database])
            #expect(outcome.status == 0, "\(words) \(outcome)")
        }
        #expect(try run("show", "\(id)").output.contains("far"))
        let watched = try run("watch", "\(ended)")
        #expect(watched.status == 1 && watched.output.contains("cancelled"), "\(watched)")
        let doctor = try run("doctor")
        let advice =
            "takes no writes: default_transaction_read_only is on for test_reports; run: alter role test_reports \(off)"
        #expect(doctor.status == 1 && doctor.output.contains("fault   database    \(advice)\n"), "\(doctor)")
        // A setting in the connection string is kept.
        let chosen = try run("jobs", beside: " target_session_attrs=read-write")
        #expect(
            chosen
                == .init(
                    status: 69,
                    output: "worker: database \(advice); this command also works with target_session_attrs=primary\n")
        )
    }

    @Test func `a writing command names the source of default_transaction_read_only and how to undo it`() throws {
        let queue = try TestQueue()
        let name = TestCluster.name(of: queue.database)
        func said(_ words: String..., beside: String = "", variables: [String: String] = [:]) throws -> String {
            let database = queue.database.replacing("user=postgres", with: "user=test_closed") + beside
            let outcome = try WorkerProcess.run(words + ["--database", database], variables)
            #expect(outcome.status == 69, "\(outcome)")
            return outcome.output
        }
        let start = "worker: database takes no writes: default_transaction_read_only is on"
        try queue.connection.execute(
            "create role test_closed login in role postrider_worker, postrider_admin; alter role test_closed \(on)")
        let role = "\(start) for test_closed; run: alter role test_closed \(off)\n"
        #expect(try said("run") == role)
        #expect(try said("run", beside: " target_session_attrs=any") == role)
        #expect(try said("cancel", "1") == role)
        try queue.connection.execute("alter role test_closed in database \(name) \(on)")
        #expect(
            try said("run")
                == "\(start) for test_closed in \(name); run: alter role test_closed in database \(name) \(off)\n")
        try queue.connection.execute(
            "alter role test_closed in database \(name) reset all; alter role test_closed reset all")
        #expect(
            try said("run", variables: ["PGOPTIONS": "-c default_transaction_read_only=on"])
                == "\(start) in PGOPTIONS or in the options of the connection string; remove it there\n")
        try queue.connection.execute("alter database \(name) \(on)")
        #expect(
            try said("migrate")
                == "\(start) for the database \(name); unless that is on purpose, run: alter database \(name) \(off)\n"
        )
    }
}
