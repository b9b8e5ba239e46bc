// SPDX-License-Identifier: Apache-2.0

import Glibc
import HTTPAgent
import JobModel
import PGClient
import Reactor
import TestSupport
import Testing

@testable import Engine

/// Reuse of descriptor numbers. The system gives the lowest free number, so a new socket often has the last socket's
/// number.
struct ReusedDescriptorTests {
    @Test func `a session gets events although its socket reuses a closed call's descriptor number`() throws {
        let target = try TargetServer { _ in [.hang] }
        // Other tests open and close descriptors at the same time and may take the number.
        for _ in 1...200 {
            // A loop blocks signals, so it needs its own thread.
            if let isHeard = try BackgroundThread.result(of: { try Self.sessionHears(target) }) {
                #expect(isHeard)
                return
            }
        }
        Issue.record("no session got the number of a call's socket")
    }

    /// Whether the session learns that its socket is writable; nil if the socket has another number.
    private static func sessionHears(_ target: TargetServer) throws -> Bool? {
        let loop = try RunLoop(
            EngineConfiguration(
                database: PGConnectionString("host=127.0.0.1 port=\(target.port) user=nobody dbname=none"),
                name: "test", queues: [], concurrency: 1, allowsPrivateNetwork: true, drain: .zero,
                usesSessions: true, log: { _ in }))
        var ready: [PollerEvent] = []
        var number: UInt64?
        let before = target.requests.count
        loop.shared.agent.start(HTTPCall(url: target.url, allowsPrivateNetwork: true), slot: 0)
        try TestClock.wait(10, for: "a request") {
            loop.shared.agent.timeout()
            try loop.watchSockets()
            try loop.poller.wait(timeoutNanoseconds: 5_000_000, into: &ready)
            for event in ready {
                number = event.token
                loop.shared.agent.socketReady(Int32(event.token), readable: event.readable, writable: event.writable)
            }
            return target.requests.count > before
        }
        try loop.watchSockets()
        loop.shared.agent.cancel(slot: 0)
        let session = loop.sessions[.duties]
        session.start(now: MonotonicClock.now)
        guard let descriptor = session.interest?.descriptor, UInt64(descriptor) == number else { return nil }
        try loop.watchSockets()
        try loop.poller.wait(timeoutNanoseconds: Soak.nanoseconds(1), into: &ready)
        // The token of a session is larger than any descriptor.
        return ready.contains { $0.writable && $0.token > UInt64(UInt32.max) }
    }

    @Test func `the agent skips a descriptor number that is no longer a socket`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200, "right") }
        let agent = try HTTPAgent(slots: 1)
        var poller = try Poller()
        agent.start(HTTPCall(url: target.url, allowsPrivateNetwork: true), slot: 0)
        agent.timeout()
        let number = try #require((0..<1024).first { Self.peer($0) == target.port }, "no socket was opened")
        // dup2 leaves no moment in which the number is free for another test.
        let socket = dup(number)
        let null = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer {
            close(socket)
            close(null)
        }
        dup2(null, number)
        try agent.watch(in: &poller)
        dup2(socket, number)
        agent.cancel(slot: 0)
        try agent.watch(in: &poller)
    }

    /// The remote port of a socket; nil if the descriptor is no connected socket.
    private static func peer(_ descriptor: Int32) -> UInt16? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getpeername(descriptor, $0, &length) }
        }
        return result == 0 && address.sin_family == sa_family_t(AF_INET) ? UInt16(bigEndian: address.sin_port) : nil
    }
}
