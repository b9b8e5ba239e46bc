// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// One row that makes every statement fail, among good rows. INSERT refuses such rows, so the test changes stored rows.
struct PoisonTests {
    /// Gives the job more milliseconds than the claim's column can hold.
    private static func spoil(_ job: Int64) -> String {
        """
        set session_replication_role = replica;
        update postrider.jobs set timeout = interval '100 years' where id = \(job);
        set session_replication_role = origin
        """
    }

    @Test func `a stored job that breaks every claim fails alone, and all other jobs succeed`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.insert(50, "url", "'\(target.url)/ok/'")
        let evil = try queue.insert("url", "'\(target.url)/evil'")
        try queue.insert(50, "url", "'\(target.url)/ok/'")
        try queue.connection.execute(Self.spoil(evil))
        let worker = try RunningWorker(queue.database, concurrency: 16)
        try queue.waitUntilDone()
        #expect(try queue.states() == "failed 1, succeeded 100")
        #expect(
            try queue.rows(
                "select error_code, (error like '%cannot write the job%')::text from postrider.job_status where id = \(evil)"
            )
                == [["internal", "true"]])
        #expect(!target.requests.contains { $0.path == "/evil" })
        #expect(worker.count(of: "result_unstorable") == 1)
    }

    /// The claim of one announced job is another statement.
    @Test func `an announced job that breaks the single-job claim fails, and the next job succeeds`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let first = try queue.insert("url", "'\(target.url)/ok'")
        try queue.wait(for: first, toBe: "succeeded")
        try queue.connection.execute("begin")
        let evil = try queue.insert("url", "'\(target.url)/evil'")
        try queue.connection.execute(Self.spoil(evil) + "; commit")
        let next = try queue.insert("url", "'\(target.url)/ok'")
        try queue.wait(for: evil, toBe: "failed")
        try queue.wait(for: next, toBe: "succeeded")
    }
}
