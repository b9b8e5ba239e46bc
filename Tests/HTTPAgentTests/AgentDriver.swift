// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import Reactor
import Testing

/// A minimal owner of an agent: it waits for events, passes them on and collects finished calls.
final class AgentDriver {
    let agent: HTTPAgent
    private var poller: Poller
    private var ready: [PollerEvent] = []
    private(set) var changes = 0
    /// The descriptors that are registered with the poller.
    private(set) var watched: Set<Int32> = []

    init(
        slots: Int = 8, caFile: String? = nil, filesRoot: String? = nil, descriptors: DescriptorBudget = .current,
        diskLimit: Duration = .seconds(60)
    ) throws {
        agent = try HTTPAgent(
            slots: slots, caFile: caFile, filesRoot: filesRoot, descriptors: descriptors, diskLimit: diskLimit)
        poller = try Poller()
    }

    /// Makes one call and waits for its end.
    func run(_ call: HTTPCall) throws -> CallOutcome {
        agent.start(call, slot: 0)
        return try #require(try wait(for: 1).first?.outcome)
    }

    /// Turns until `count` calls have ended. A call that is unfinished after 20 s fails the test.
    func wait(for count: Int, seconds: UInt64 = 20) throws -> [FinishedCall] {
        let limit = MonotonicClock.now + seconds * 1_000_000_000
        var finished: [FinishedCall] = []
        while finished.count < count {
            try turn(until: limit)
            finished += agent.takeFinished()
            try #require(MonotonicClock.now < limit, "\(count - finished.count) calls did not end in time")
        }
        return finished
    }

    /// One turn of the loop, at most this long.
    func turn(for milliseconds: UInt64) throws {
        try turn(until: MonotonicClock.now + milliseconds * 1_000_000)
    }

    func turn(until limit: UInt64) throws {
        var failure: ReactorError?
        agent.drainSocketChanges { change in
            changes += 1
            if change.isRemoval {
                watched.remove(change.descriptor)
                return poller.remove(change.descriptor)
            }
            watched.insert(change.descriptor)
            do throws(ReactorError) {
                try poller.set(
                    change.descriptor, token: UInt64(change.descriptor), read: change.wantsRead,
                    write: change.wantsWrite
                )
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        let now = MonotonicClock.now
        let deadline = min(agent.nextDeadline ?? limit, limit)
        try poller.wait(timeoutNanoseconds: deadline > now ? deadline - now : 0, into: &ready)
        for event in ready {
            agent.socketReady(Int32(event.token), readable: event.readable, writable: event.writable)
        }
        if let due = agent.nextDeadline, due <= MonotonicClock.now { agent.timeout() }
    }
}
