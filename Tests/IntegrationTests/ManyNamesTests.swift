// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Jobs to many host names, most of which are called once.
@Suite(.enabled(if: LocalNameServer.obstacle == nil, "\(LocalNameServer.obstacle ?? "")"), .serialized)
struct ManyNamesTests {
    private let names: LocalNameServer
    private let target: TargetServer

    init() throws {
        names = try LocalNameServer()
        target = try TargetServer { request in
            request.header("x-close") == nil
                ? TargetStep.answer(200) : TargetStep.answer(200, headers: ["Connection: close"]) + [.close]
        }
    }

    private func url(_ host: String) -> String { "'http://\(host):\(target.port)/ok'" }

    /// Seconds until all jobs have ended.
    private func seconds(_ queue: borrowing TestQueue, _ count: Int, _ url: String) throws -> Double {
        let begin = TestClock.now
        try queue.insert(count, "url, headers", "\(url), '{\"X-Close\": \"1\"}'")
        try queue.waitUntilDone(300)
        return TestClock.seconds(since: begin)
    }

    @Test func `many names are called, each once, and the ones that do not exist fail for that`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 64, under: names.wrapper)
        try queue.insert(500, "url", url("n' || i || '.example"))
        try queue.insert(20, "url, max_attempts", "'http://n' || i || '.nowhere.example/', 1")
        try queue.insert(20, "url", url("N' || i || '.Example"))
        try queue.waitUntilDone(60)
        #expect(try queue.states() == "failed 20, succeeded 520")
        #expect(try queue.number("select count(*) from postrider.job_status where error_code = 'dns'") == 20)
        #expect(target.requests.count == 520)
        // 127.0.0.1 is private, by whatever name.
        let guarded = try queue.number(
            "select count(*) from postrider.attempts where error_code is null and remote_ip = '127.0.0.1'")
        #expect(guarded == 520)
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test(.enabled(if: Soak.isOn, "needs minutes and the machine to itself"))
    func `60,000 names take at most a quarter more time than new connections to one host`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 64, under: names.wrapper)
        _ = try seconds(queue, 2_000, url("warm.example"))
        let one = try seconds(queue, 20_000, url("one.example"))
        for part in 0..<3 {
            let many = try seconds(queue, 20_000, url("n' || i + \(part * 20_000) || '.example"))
            #expect(many < one / 0.8, "part \(part): \(many) s, \(one) s for one host")
        }
        TestClock.sleep(milliseconds: 45_000)
        let after = try seconds(queue, 20_000, url("one.example"))
        #expect(after < one / 0.8, "\(after) s after the flood, \(one) s before it")
        #expect(worker.end(SIGTERM) == 0)
    }
}
