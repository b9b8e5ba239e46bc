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

    private func url(_ host: String, path: String = "ok") -> String { "'http://\(host):\(target.port)/\(path)'" }

    @Test func `calls to 500 host names succeed, and unknown names fail with error code dns`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 64, under: names.wrapper)
        try queue.insert(500, "url", url("n' || i || '.example"))
        try queue.insert(20, "url, max_attempts", "'http://n' || i || '.nowhere.example/', 1")
        try queue.insert(20, "url", url("N' || i || '.Example"))
        try queue.waitUntilDone(60)
        #expect(try queue.states() == "failed 20, succeeded 520")
        #expect(try queue.number("select count(*) from postrider.job_status where error_code = 'dns'") == 20)
        #expect(target.requests.count == 520)
        // 127.0.0.1 is private under every name.
        let guarded = try queue.number(
            "select count(*) from postrider.attempts where error_code is null and remote_ip = '127.0.0.1'")
        #expect(guarded == 520)
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `host names with a silent name server do not delay other host names`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 64, under: names.wrapper)
        // As many calls as there are threads that resolve names.
        try queue.insert(4, "url, max_attempts, timeout", "'http://n' || i || '.silent.example/', 1, interval '4 s'")
        try queue.insert(100, "url", url("n' || i || '.example"))
        try queue.wait(until: "select count(*) = 100 from postrider_internal.results where state = 's'")
        #expect(try queue.states() == "running 4, succeeded 100")
        try queue.waitUntilDone()
        #expect(try queue.states() == "failed 4, succeeded 100")
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test(.enabled(if: Soak.isOn, "needs minutes and the machine to itself"))
    func `calls to 60,000 names reach at least 0.8 of the rate of calls to one host`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 64, under: names.wrapper)
        /// Returns seconds, and the worker's CPU time for each call in microseconds.
        func call(_ count: Int, _ url: String) throws -> (seconds: Double, cpu: Double) {
            let begin = TestClock.now
            let cpu = worker.cpuSeconds
            try queue.insert(count, "url, lane, headers", "\(url), 'flood', '{\"X-Close\": \"1\"}'")
            try queue.waitUntilDone(300)
            return (TestClock.seconds(since: begin), (worker.cpuSeconds - cpu) / Double(count) * 1e6)
        }
        let one = url("one.example", path: "' || i || '")
        _ = try call(2_000, one)
        _ = try call(2_000, url("w' || i || '.example"))
        var ones: [Double] = []
        var manys: [(seconds: Double, cpu: Double)] = []
        // The two kinds take turns, so that other processes slow both equally.
        for part in 0..<6 {
            ones.append(try call(10_000, one).seconds)
            manys.append(try call(10_000, url("n' || i + \(part * 10_000) || '.example")))
        }
        let usual = ones.sorted()[3]
        let seconds = manys.map(\.seconds)
        let cpus = manys.map(\.cpu)
        #expect(seconds[..<3].sorted()[1] < usual / 0.8, "the first names: \(seconds) s; \(ones) s for one host")
        #expect(seconds[3...].sorted()[1] < usual / 0.8, "the last names: \(seconds) s; \(ones) s for one host")
        #expect(cpus[4] + cpus[5] < 1.3 * (cpus[0] + cpus[1]), "CPU for each call: \(cpus) µs")
        TestClock.sleep(milliseconds: 45_000)
        let after = try call(10_000, one).seconds
        #expect(after < usual / 0.8, "\(after) s after the flood; \(ones) s before")
        #expect(worker.end(SIGTERM) == 0)
    }
}
