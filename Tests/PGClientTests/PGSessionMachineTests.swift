// SPDX-License-Identifier: Apache-2.0

import PGClient
import Testing

struct PGSessionMachineTests {
    private static let second: UInt64 = 1_000_000_000
    private static let millisecond: UInt64 = 1_000_000

    enum Event: CaseIterable {
        case start, connected, setUpDone, failed, deadlineBefore, deadlineAt, close
    }

    enum Stage: CaseIterable {
        case stopped, connecting, settingUp, ready, backingOff, closed
    }

    /// A machine that events alone have brought into a state. The time is 100 s.
    private static func machine(_ stage: Stage) -> PGSessionMachine {
        var machine = PGSessionMachine()
        let now = 100 * second
        if stage == .stopped { return machine }
        _ = machine.start(now: now)
        switch stage {
        case .stopped, .connecting: break
        case .settingUp: _ = machine.connected()
        case .ready:
            _ = machine.connected()
            _ = machine.setUpDone(now: now)
        case .backingOff: _ = machine.failed(now: now, random: 0)
        case .closed: _ = machine.close()
        }
        return machine
    }

    /// The whole table: the effect of each event in each state, at 101 s, with the smallest jitter.
    private static func expected(_ stage: Stage, _ event: Event) -> (PGSessionMachine.Action, PGSessionMachine.State) {
        let now = 101 * second
        let until = 110 * second
        let retry = now + 25 * millisecond
        let state: PGSessionMachine.State =
            switch stage {
            case .stopped: .stopped
            case .connecting: .connecting(until: until)
            case .settingUp: .settingUp(until: until)
            case .ready: .ready(since: 100 * second)
            case .backingOff: .backingOff(until: 100 * second + 25 * millisecond)
            case .closed: .closed
            }
        switch (stage, event) {
        case (.closed, _): return (.none, .closed)
        case (_, .close): return (.close, .closed)
        case (.stopped, .start): return (.connect, .connecting(until: now + 10 * second))
        case (.connecting, .connected): return (.setUp, .settingUp(until: until))
        case (.settingUp, .setUpDone): return (.announceReady, .ready(since: now))
        case (.connecting, .failed), (.settingUp, .failed), (.ready, .failed):
            return (.drop(retryAt: retry), .backingOff(until: retry))
        case (.connecting, .deadlineAt), (.settingUp, .deadlineAt):
            let late = until + 25 * millisecond
            return (.timeOut(retryAt: late), .backingOff(until: late))
        case (.backingOff, .deadlineAt): return (.connect, .connecting(until: until + 10 * second))
        default: return (.none, state)
        }
    }

    @Test(arguments: Stage.allCases, Event.allCases)
    func `every event in every state gives the action and state of the table`(stage: Stage, event: Event) {
        var machine = Self.machine(stage)
        let now = 101 * Self.second
        let action =
            switch event {
            case .start: machine.start(now: now)
            case .connected: machine.connected()
            case .setUpDone: machine.setUpDone(now: now)
            case .failed: machine.failed(now: now, random: 0)
            case .deadlineBefore: machine.deadlineReached(now: 100 * Self.second, random: 0)
            case .deadlineAt: machine.deadlineReached(now: 110 * Self.second, random: 0)
            case .close: machine.close()
            }
        let (wantedAction, wantedState) = Self.expected(stage, event)
        let state = machine.state
        #expect(action == wantedAction)
        #expect(state == wantedState)
    }

    @Test func `reconnect waits double from 50 ms to 5 s, and jitter removes at most half`() {
        for random in [0, UInt64.max] {
            var machine = PGSessionMachine()
            var now = Self.second
            _ = machine.start(now: now)
            for wanted in [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000] as [UInt64] {
                guard case .drop(let retryAt) = machine.failed(now: now, random: random) else {
                    Issue.record("a failed attempt must end in a wait")
                    return
                }
                let wait = retryAt - now
                #expect(wait >= wanted * Self.millisecond / 2)
                #expect(wait <= wanted * Self.millisecond)
                now = retryAt
                #expect(machine.deadlineReached(now: now, random: random) == .connect)
            }
        }
    }

    @Test func `300 failures in a row keep the reconnect wait at most 5 s`() {
        var machine = PGSessionMachine()
        _ = machine.start(now: 0)
        var now: UInt64 = 0
        for _ in 0..<300 {
            guard case .drop(let retryAt) = machine.failed(now: now, random: .max) else { return }
            #expect(retryAt - now <= 5 * Self.second)
            now = retryAt
            _ = machine.deadlineReached(now: now, random: 0)
        }
    }

    @Test(arguments: [(6_000, 50), (1_000, 250), (400, 100), (0, 50)] as [(UInt64, UInt64)])
    func `the reconnect wait is 50 ms or at most a quarter of the lost connection's life`(
        lived: UInt64, longest: UInt64
    ) {
        var machine = PGSessionMachine()
        var now: UInt64 = 0
        _ = machine.start(now: now)
        for _ in 0..<8 {
            _ = machine.failed(now: now, random: .max)
            now = machine.deadline ?? 0
            _ = machine.deadlineReached(now: now, random: 0)
        }
        _ = machine.connected()
        _ = machine.setUpDone(now: now)
        now += lived * Self.millisecond
        guard case .drop(let retryAt) = machine.failed(now: now, random: UInt64(longest * Self.millisecond / 2)) else {
            Issue.record("a lost connection must end in a wait")
            return
        }
        #expect(retryAt - now == longest * Self.millisecond)
        let failures = machine.failures
        #expect((failures == 1) == (lived >= 5_000))
    }

    @Test func `each failed connection attempt increases the failure count`() {
        var machine = PGSessionMachine()
        var now: UInt64 = 0
        _ = machine.start(now: now)
        for round in 1...10 {
            _ = machine.failed(now: now, random: 0)
            let failures = machine.failures
            #expect(failures == round)
            now = machine.deadline ?? 0
            _ = machine.deadlineReached(now: now, random: 0)
        }
    }
}
