// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport

/// A connection of a simulated worker.
///
/// Requests and answers arrive late and in order, and both can be lost.
final class SimulatedSession {
    /// A transaction that has run. It commits, or it is rolled back with its connection.
    struct Transaction {
        /// Commits, and returns the worker's reaction to the answer.
        var commit: () -> () -> Void
        var rollBack: () -> Void = {}
    }

    private let world: Fleet
    private unowned let owner: SimulatedWorker
    private var machine = PGSessionMachine()
    /// The number of lost connections.
    private var generation = 0
    /// The times until which the server still executes the requests of lost connections.
    private var executesUntil: [Int: UInt64] = [:]
    private var serverFree: UInt64 = 0
    private var lastAnswer: UInt64 = 0
    private let ready: () -> Void
    private let lost: () -> Void

    init(_ world: Fleet, _ owner: SimulatedWorker, ready: @escaping () -> Void, lost: @escaping () -> Void) {
        self.world = world
        self.owner = owner
        self.ready = ready
        self.lost = lost
    }

    var isReady: Bool {
        if case .ready = machine.state { true } else { false }
    }

    var deadline: UInt64? { machine.deadline }

    func start() { perform(machine.start(now: world.timeline.now)) }

    func deadlineReached() {
        perform(machine.deadlineReached(now: world.timeline.now, random: world.random.next()))
    }

    func cut() {
        executesUntil[generation] = world.timeline.now + world.random.number(0...60) * millisecond
        generation += 1
        perform(machine.failed(now: world.timeline.now, random: world.random.next()))
    }

    /// Sends a request, whose execution takes this much longer than usual.
    func send(taking extra: UInt64 = 0, _ execute: @escaping () -> Transaction) {
        let mine = generation
        let arrival = max(world.timeline.now + world.latency(), serverFree)
        let work = world.latency() + extra
        serverFree = arrival + work
        lastAnswer = max(lastAnswer, serverFree + world.latency())
        let answer = lastAnswer
        world.timeline.at(arrival) { [self] in
            guard isExecuted(mine) else { return }
            let transaction = execute()
            world.timeline.at(arrival + work) { [self] in
                guard isExecuted(mine) else { return transaction.rollBack() }
                let reply = transaction.commit()
                world.timeline.at(answer) { [self] in
                    owner.deliver { [self] in if mine == generation { reply() } }
                }
            }
        }
    }

    private func isExecuted(_ mine: Int) -> Bool {
        mine == generation || world.timeline.now <= executesUntil[mine] ?? 0
    }

    private func perform(_ action: PGSessionMachine.Action) {
        let mine = generation
        switch action {
        case .none, .close: break
        case .connect:
            world.timeline.at(world.timeline.now + world.latency()) { [self] in
                owner.deliver { [self] in if mine == generation { perform(machine.connected()) } }
            }
        case .setUp:
            world.timeline.at(world.timeline.now + world.latency()) { [self] in
                owner.deliver { [self] in
                    if mine == generation { perform(machine.setUpDone(now: world.timeline.now)) }
                }
            }
        case .announceReady: ready()
        case .drop, .timeOut: lost()
        }
    }
}
