// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `bench/public/adapter.py` with the test's worker.
struct PublicAdapterTests {
    @Test func `the adapter installs the queue and prints the lines of the public harness`() throws {
        let database = try TestCluster.makeDatabaseText()
        let adapter = try Self.start(database, ["PRODUCER_RATE": "200", "SAMPLE_EVERY_S": "1"])
        try TestClock.wait(60, for: "two seconds with ended jobs:\n\(adapter.output)") {
            try Self.lines(adapter).filter { $0.metric == "completion_rate" && $0.value ?? 0 > 20 }.count >= 2
        }
        #expect(try adapter.status(15, signal: SIGTERM) == 0)

        let lines = try Self.lines(adapter)
        let descriptor = try #require(lines.first)
        #expect(descriptor.kind == "descriptor")
        #expect(descriptor.dbName == TestCluster.name(of: database))
        let manifest = try Self.decoder().decode(
            Manifest.self,
            from: Data(contentsOf: URL(fileURLWithPath: ProjectFolder.path() + "/bench/public/adapter.json")))
        #expect(manifest.system == descriptor.system)
        #expect(try Set(manifest.eventTables).isSubset(of: #require(descriptor.eventTables)))
        #expect(try Set(manifest.extensions).isSubset(of: #require(descriptor.extensions)))

        let samples = lines.dropFirst()
        let metrics = [
            "claim_p50_ms", "claim_p95_ms", "claim_p99_ms", "enqueue_rate", "completion_rate", "queue_depth",
        ]
        #expect(Set(metrics).isSubset(of: samples.compactMap(\.metric)))
        for sample in samples {
            #expect(sample.kind == "adapter" && sample.subjectKind == "adapter" && sample.subject == "")
            #expect(sample.system == "postrider" && sample.instanceId == 0)
            #expect(sample.value != nil && sample.windowS != nil && sample.t?.hasSuffix("Z") == true)
        }
        let p99 = samples.filter { $0.metric == "claim_p99_ms" }.compactMap(\.value)
        #expect(p99.contains { $0 > 0 && $0 < 10_000 }, "\(p99)")
    }

    @Test func `the adapter inserts as many jobs as the harness asks for, and its worker dies with it`() throws {
        let queue = try TestQueue()
        let adapter = try Self.start(
            queue.database, ["PRODUCER_PACING": "harness", "PRODUCER_BATCH_MAX": "5", "BENCH_INSTANCE_ID": "1"],
            input: "ENQUEUE 7\\nENQUEUE 12\\n")
        let succeeded = "select count(*) from postrider.job_status where state = 'succeeded'"
        try TestClock.wait(60, for: "19 jobs:\n\(adapter.output)") { try queue.number(succeeded) == 19 }
        #expect(try Self.lines(adapter).allSatisfy { $0.metric != "queue_depth" })

        _ = try adapter.status(5, signal: SIGKILL)
        let sessions = """
            select count(*) from pg_stat_activity
             where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
            """
        try TestClock.wait(30, for: "the end of the worker's sessions") { try queue.number(sessions) == 0 }
    }

    private struct Manifest: Decodable {
        let system: String
        let eventTables: [String]
        let extensions: [String]
    }

    private struct Line: Decodable {
        let system: String
        let kind: String
        let instanceId: Int
        let eventTables: [String]?
        let extensions: [String]?
        let dbName: String?
        let t: String?
        let subjectKind: String?
        let subject: String?
        let metric: String?
        let value: Double?
        let windowS: Double?
    }

    private static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    private static func start(
        _ database: String, _ variables: [String: String], input: String = ""
    ) throws -> WatchedProcess {
        let all = variables.merging([
            "DATABASE_URL": database, "SCENARIO": "long_horizon", "WORKER_COUNT": "8",
            "POSTRIDER_WORKER": WorkerProcess.path, "POSTRIDER_BENCH_PORT": String(try TargetServer.freePort()),
        ]) { $1 }
        return try WatchedProcess(
            ["/usr/bin/env"] + all.map { "\($0.key)=\($0.value)" }
                + ["/bin/bash", "-c", "exec \"$@\" < <(printf '\(input)')", "adapter", ProjectFolder.python(), "-B"]
                + [ProjectFolder.path() + "/bench/public/adapter.py"])
    }

    /// The lines of the adapter. The output also has the worker's log.
    private static func lines(_ adapter: WatchedProcess) throws -> [Line] {
        try adapter.output.split(separator: "\n").filter { $0.hasPrefix("{\"system\"") && $0.hasSuffix("}") }
            .map { try decoder().decode(Line.self, from: Data($0.utf8)) }
    }
}
