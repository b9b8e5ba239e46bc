// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

@testable import WorkerCLI

/// Runs the audit command, without a database and with one.
struct AuditCommandTests {
    private static let groups = ["addresses", "urls", "proxies", "redirects", "headers", "answers", "files"]

    /// The number of lines with this grade about a group.
    private func count(_ grade: String, _ group: String, _ outcome: WorkerProcess.Outcome) -> Int {
        outcome.output.split(separator: "\n").count {
            $0.hasPrefix(grade + " ") && $0.dropFirst(8).hasPrefix(group + " ")
        }
    }

    @Test func `audit without a database passes, with one line for each input`() throws {
        let outcome = try WorkerProcess.run(["audit"])
        #expect(outcome.status == 0, "\(outcome.output.split(separator: "\n").filter { $0.hasPrefix("fault") })")
        for group in Self.groups {
            #expect(count("ok", group, outcome) >= 30, "\(group)")
        }
        #expect(outcome.output.hasSuffix(" inputs, all ended as required\n"))
        #expect(!outcome.output.contains(HostileInput.secret))
        let controls = outcome.output.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }
        #expect(controls.isEmpty)
    }

    @Test func `with a worker's login, audit finds every row refused and leaves no rows`() throws {
        let queue = try TestQueue()
        let outcome = try WorkerProcess.run(["audit", "--database", TestRole.worker.database(queue.database)])
        #expect(outcome.status == 0, "\(outcome.output.split(separator: "\n").filter { $0.hasPrefix("fault") })")
        #expect(count("ok", RowAudit.group, outcome) == HostileRows.all.count)
        #expect(!outcome.output.contains(HostileInput.secret))
        let left = try [
            "postrider.jobs", "postrider_internal.ready", "postrider_internal.scheduled", "postrider_internal.trees",
            "postrider_internal.members", "postrider_internal.results", "postrider_internal.intake",
        ].filter {
            try queue.number("select count(*) from \($0)") != 0
        }
        #expect(left == [])
    }

    @Test func `audit ends with 1 if the database accepts rows that it must refuse`() throws {
        let queue = try TestQueue()
        try queue.connection.execute("alter table postrider.jobs disable trigger user")
        let outcome = try WorkerProcess.run(["audit", "--database", queue.database])
        #expect(outcome.status == 1)
        #expect(count("fault", RowAudit.group, outcome) > 20)
        #expect(outcome.output.contains("ftp://: must be refused for jobs.url; it was accepted"))
        #expect(outcome.output.hasSuffix(" did not end as required\n"))
        #expect(try queue.number("select count(*) from postrider.jobs") == 0)
    }

    @Test func `audit ends at once if its database is unreachable, has no schema or is invalid`() throws {
        let absent = try WorkerProcess.run(["audit", "--database", "host=/nowhere"])
        #expect(absent.status == 69 && absent.output.split(separator: "\n").count == 1, "\(absent.output)")
        #expect(try WorkerProcess.run(["audit"], ["DATABASE_URL": "host=/nowhere"]).status == 69)
        let bare = try WorkerProcess.run(["audit", "--database", TestCluster.makeDatabaseText()])
        #expect(bare.status == 78 && bare.output.contains("run: worker migrate"), "\(bare.output)")
        #expect(try WorkerProcess.run(["audit", "--loud"]).status == 64)
        #expect(try WorkerProcess.run(["audit", "--database", "a b c"]).status == 64)
    }

    @Test func `a signal ends audit with 1, and audit leaves no temporary files`() throws {
        let folder = try TestFolder()
        try folder.write("temporary/beside", "")
        let process = try WorkerProcess.start(
            ["audit"], ["TMPDIR": folder.path("temporary")], output: folder.path("lines"))
        try TestClock.wait(30, for: "the first line") { folder.size("lines") > 0 }
        #expect(WorkerProcess.end(process, signal: SIGINT) == 1)
        #expect(try folder.names("temporary") == ["beside"])
        let lines = String(decoding: folder.read("lines") ?? [], as: UTF8.self)
        #expect(
            lines.split(separator: "\n").last?.hasPrefix("stopped by a signal after ") == true, "\(lines.suffix(200))")
    }
}
