// SPDX-License-Identifier: Apache-2.0

import Foundation
import PGClient
import TestSupport
import Testing

struct DevCommandTests {
    /// Waits for an event that comes within about a second. The time limit only ends a test that hangs.
    private static func eventually<Value>(_ look: () throws -> Value?) throws -> Value {
        var value: Value?
        try TestClock.wait(30, for: "a \(Value.self)") {
            value = try look()
            return value != nil
        }
        return try #require(value)
    }

    private static func connectionString(in file: URL) -> String? {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
        return text.firstMatch(of: /export DATABASE_URL='([^']+)'/).map { String($0.1) }
    }

    private static func dashboardPort(in file: URL) -> UInt16? {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
        return text.firstMatch(of: /dashboard +http:\/\/127.0.0.1:([0-9]+)\//).flatMap { UInt16($0.1) }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGKILL])
    func `dev runs a job and stops its PostgreSQL server on each signal, even SIGKILL`(signal: Int32) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("postrider-dev-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        // Settings for another database, for libpq or another program, must not lead there.
        let elsewhere = ["PGHOSTADDR": "127.0.0.1", "PGSERVICE": "none", "DATABASE_URL": "mysql://h/"]
        let process = try WorkerProcess.start(["dev"], elsewhere, output: file.path)
        var hasEnded = false
        defer { if !hasEnded { _ = WorkerProcess.end(process, signal: SIGKILL) } }
        let text = try Self.eventually { Self.connectionString(in: file) }
        let directory = try #require(text.firstMatch(of: /host=([^&]+)/)).1
        do {
            let connection = try PGConnection(text)
            let insert = "insert into postrider.jobs (url, max_attempts) values ('http://127.0.0.1:1/', 1) returning id"
            let id = try connection.query(insert).int64(0, 0)
            let finished = "select 1 from postrider.job_status where id = \(id) and error_code = 'connect'"
            _ = try Self.eventually { try connection.query(finished).rowCount == 1 ? true : nil }
            // Each of several dev commands has its own dashboard.
            let port = try #require(Self.dashboardPort(in: file))
            let page = try PageReader(port: port).read("/jobs/\(id)")
            #expect(page.status == 200 && page.lines.joined().contains("Job \(id)"))
        }
        hasEnded = true
        #expect(WorkerProcess.end(process, signal: signal) == (signal == SIGKILL ? 128 + SIGKILL : 0))
        _ = try Self.eventually { FileManager.default.fileExists(atPath: String(directory)) ? nil : true }
        #expect(throws: PGError.self) { _ = try PGConnection(text) }
    }

    @Test func `dev with --keep finds its jobs again at the next start`() throws {
        let folder = try TestFolder()
        let kept = folder.path("kept")
        if geteuid() == 0 { try folder.shell("install -d -m 700 -o postgres kept") }
        for expected: Int64 in 0...1 {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("postrider-dev-\(UUID())")
            defer { try? FileManager.default.removeItem(at: file) }
            let process = try WorkerProcess.start(["dev", "--keep", kept], output: file.path)
            var hasEnded = false
            defer { if !hasEnded { _ = WorkerProcess.end(process, signal: SIGKILL) } }
            let text = try Self.eventually { Self.connectionString(in: file) }
            do {
                let connection = try PGConnection(text)
                #expect(try connection.query("select count(*) from postrider.jobs").int64(0, 0) == expected)
                let later = "'http://h/', now() + interval '1 day'"
                try connection.execute("insert into postrider.jobs (url, run_at) values (\(later))")
            }
            hasEnded = true
            #expect(WorkerProcess.end(process, signal: SIGTERM) == 0)
        }
    }

    @Test func `dev ends with a message after its server is killed`() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("postrider-dev-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let process = try WorkerProcess.start(["dev"], output: file.path)
        var hasEnded = false
        defer { if !hasEnded { _ = WorkerProcess.end(process, signal: SIGKILL) } }
        let text = try Self.eventually { Self.connectionString(in: file) }
        let directory = try #require(text.firstMatch(of: /host=([^&]+)/)).1
        let server: Int32
        do {
            let connection = try PGConnection(text)
            let enlisted = "select from postrider_internal.workers"
            _ = try Self.eventually { try connection.query(enlisted).rowCount == 1 ? true : nil }
            let own = "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int"
            server = try connection.query(own).int32(0, 0)
        }
        kill(server, SIGKILL)
        var status: Int32 = 0
        _ = try Self.eventually { unsafe waitpid(process, &status, WNOHANG) == process ? true : nil }
        hasEnded = true
        #expect(status == 69 << 8)
        let output = try String(contentsOf: file, encoding: .utf8)
        let words = "worker: its PostgreSQL has ended; start worker dev again; without --keep, all jobs are lost\n"
        #expect(output.hasSuffix(words), "\(output)")
        #expect(!FileManager.default.fileExists(atPath: String(directory)))
    }
}
