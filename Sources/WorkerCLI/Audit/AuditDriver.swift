// SPDX-License-Identifier: Apache-2.0

internal import Engine
internal import HTTPAgent
internal import HostileTarget
internal import JobModel
internal import Reactor

/// Makes the calls of an audit like a worker: with an agent and a poller.
final class AuditDriver {
    private let ground: AuditGround
    private let agent: HTTPAgent
    private var poller: Poller
    private var ready: [PollerEvent] = []

    /// A call that takes so much longer than its own limit counts as hanging: 5 s.
    private static let grace: UInt64 = 5_000_000_000

    /// Creates the agent.
    ///
    /// - Throws: `internalError` with the remedy.
    init(_ ground: AuditGround) throws(CommandError) {
        self.ground = ground
        do throws(AgentError) {
            agent = try HTTPAgent(slots: 2, filesRoot: ground.folder.root)
        } catch {
            throw CommandError(.internalError, error.message)
        }
        do throws(ReactorError) {
            poller = try Poller()
        } catch {
            throw CommandError(.internalError, error.description)
        }
    }

    /// Sends a hostile input and then an innocent call, and returns what was observed.
    func trace(_ input: HostileInput) throws(CommandError) -> CallTrace {
        let servers = [ground.first, ground.second, ground.trap]
        let before = servers.map { (connections: $0.connections(), requests: $0.requests) }
        let memory = input.growthLimit == nil ? nil : PeakMemory()
        var trace = CallTrace()
        do throws(ReactorError) {
            trace.outcome = try run(input.call)
            trace.growth = memory?.growth ?? 0
            let after = servers.map { (connections: $0.connections(), requests: $0.requests) }
            let made = zip(after, before).map { ($0.connections - $1.connections, $0.requests - $1.requests) }
            trace.connections = made.map(\.0).reduce(0, +)
            trace.requests = made[0].1
            trace.elsewhere = made[1].1
            trace.trapped = made[2].0
            trace.innocent = try run(ground.call("/ok"))
        } catch {
            throw CommandError(.internalError, error.description)
        }
        return trace
    }

    /// Makes one call. If it hangs, the call is cancelled and the result is nil.
    private func run(_ call: HTTPCall) throws(ReactorError) -> CallOutcome? {
        let (seconds, _) = call.limits.total.components
        let limit = MonotonicClock.now + UInt64(clamping: min(seconds, 3_600)) * 1_000_000_000 + AuditDriver.grace
        agent.start(call, slot: 0)
        while true {
            if let ended = agent.takeFinished().first { return ended.outcome }
            guard MonotonicClock.now < limit else {
                agent.cancel(slot: 0)
                return nil
            }
            try turn(until: limit)
        }
    }

    private func turn(until limit: UInt64) throws(ReactorError) {
        try agent.watch(in: &poller)
        let now = MonotonicClock.now
        let deadline = min(agent.nextDeadline ?? limit, limit)
        try poller.wait(timeoutNanoseconds: deadline > now ? deadline - now : 0, into: &ready)
        for event in ready {
            agent.socketReady(
                Int32(truncatingIfNeeded: event.token), readable: event.readable, writable: event.writable)
        }
        if let due = agent.nextDeadline, due <= MonotonicClock.now { agent.timeout() }
    }
}
