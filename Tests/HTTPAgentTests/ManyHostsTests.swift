// SPDX-License-Identifier: Apache-2.0
import Glibc
import JobModel
import TestSupport
import Testing

@testable import HTTPAgent

/// Calls to many hosts, most of which are called once.
///
/// libcurl resolves names below `localhost` to 127.0.0.1 without a name server, and caches them like other names.
struct ManyHostsTests {
    private let target: TargetServer

    init() throws {
        target = try TargetServer { _ in TargetStep.answer(200) }
    }

    private func call(_ host: String) -> HTTPCall {
        HTTPCall(url: "http://\(host):\(target.port)/ok", allowsPrivateNetwork: true)
    }

    /// Calls each host of a range once, with all slots in use.
    private func callHosts(_ numbers: Range<Int>, in driver: AgentDriver) throws {
        var next = numbers.lowerBound
        var ended = 0
        for slot in 0..<min(16, numbers.count) {
            driver.agent.start(call("n\(next).localhost"), slot: slot)
            next += 1
        }
        while ended < numbers.count {
            for finished in try driver.wait(for: 1) {
                #expect(try finished.outcome.response().status == 200)
                ended += 1
                guard next < numbers.upperBound else { continue }
                driver.agent.start(call("n\(next).localhost"), slot: finished.slot)
                next += 1
            }
        }
    }

    private var cpuSeconds: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test func `the CPU per call to a new host stays flat from 1,000 to 10,000 hosts`() throws {
        let drivers = try (few: AgentDriver(slots: 16), many: AgentDriver(slots: 16))
        try callHosts(0..<1_000, in: drivers.few)
        try callHosts(0..<10_000, in: drivers.many)
        func cpu(from first: Int, in driver: AgentDriver) throws -> Double {
            let before = cpuSeconds
            try callHosts(first..<first + 500, in: driver)
            return cpuSeconds - before
        }
        // The agents take turns, and the minima count, because other processes on the machine make some parts slower.
        var least = (few: Double.infinity, many: Double.infinity)
        for part in 0..<6 {
            least.few = min(least.few, try cpu(from: 1_000 + part * 500, in: drivers.few))
            least.many = min(least.many, try cpu(from: 10_000 + part * 500, in: drivers.many))
        }
        #expect(least.many < 1.6 * least.few, "\(least.many) s after \(least.few) s")
    }

    @Test func `a frequently called host keeps its connection while many other hosts are called once`() throws {
        let driver = try AgentDriver(slots: 16)
        let own = "own.localhost"
        _ = try driver.run(call(own))
        for round in 0..<20 {
            #expect(try driver.run(call(own)).reused, "round \(round)")
            try callHosts((round * 40)..<(round * 40 + 40), in: driver)
        }
    }

    @Test func `a host that is called repeatedly keeps a connection even if the pool is full`() throws {
        let driver = try AgentDriver(slots: 16)
        try callHosts(0..<100, in: driver)
        let own = "own.localhost"
        #expect(try !driver.run(call(own)).reused)
        #expect(try !driver.run(call(own)).reused)
        for _ in 0..<3 { #expect(try driver.run(call(own)).reused) }
        #expect(driver.agent.loop.descriptorsHeld <= 4 + 16 + 4 + 1)
    }

    @Test func `hosts that are called twice keep the pool within its size limit`() throws {
        let driver = try AgentDriver(slots: 16)
        for start in stride(from: 0, to: 400, by: 16) {
            try callHosts(start..<(start + 16), in: driver)
            try callHosts(start..<(start + 16), in: driver)
            #expect(driver.agent.loop.descriptorsHeld <= 4 + 2 * 16 + 4)
        }
    }

    @Test func `a host is remembered until many other hosts replace it`() {
        var hosts = RecentHosts()
        func known(_ prefix: String, _ count: Int) -> Int {
            var known = 0
            for number in 0..<count where hosts.remember("\(prefix)\(number)", port: 80) { known += 1 }
            return known
        }
        #expect(known("a", 1) == 0)
        #expect(known("a", 1) == 1)
        let isKnownOnOtherPort = hosts.remember("a0", port: 443)
        #expect(!isKnownOnOtherPort)
        let first = known("h", 1_000)
        #expect(first < 20)
        let second = known("h", 1_000)
        #expect(second > 800)
        _ = known("x", 200_000)
        let third = known("h", 1_000)
        #expect(third < 50)
    }
}
