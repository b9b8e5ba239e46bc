// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Engine

/// The moment at which a worker with `--once` reports that no work is left.
struct RunOnceCheckTests {
    private static let second: UInt64 = 1_000_000_000

    /// A class around the check, because an expectation cannot change a struct.
    private final class Watch {
        private var once: RunOnceCheck

        init(isBound: Bool) { once = RunOnceCheck(isBound: isBound) }

        var due: UInt64? { once.due }

        func worked(now: UInt64) { once.worked(now: now) }
        func claims() { once.claims() }
        func makesReady(now: UInt64) { once.makesReady(now: now) }
        func hasFolded(since moment: UInt64) { once.hasFolded(since: moment) }
        func asks(now: UInt64) -> Bool { once.asks(now: now) }
        func askingFailed(now: UInt64) { once.askingFailed(now: now) }
        func answered(_ left: String?, leads: Bool, now: UInt64) -> RunOnceCheck.Decision {
            once.answered(left, leads: leads, now: now)
        }
    }

    @Test func `a worker with --once asks for remaining work and ends when nothing is left`() {
        let watch = Watch(isBound: false)
        #expect(watch.asks(now: 5))
        #expect(watch.due == nil)
        #expect(!watch.asks(now: 6))
        #expect(watch.answered("ready", leads: false, now: 7) == .goOn)
        #expect(watch.due == 7 + RunOnceCheck.pause)
        #expect(!watch.asks(now: 8))
        #expect(watch.asks(now: Self.second))
        #expect(watch.answered(nil, leads: false, now: Self.second + 1) == .end)
    }

    @Test func `an answer during a claim or call is ignored, and the worker asks again`() {
        for isCall in [true, false] {
            let watch = Watch(isBound: false)
            _ = watch.asks(now: 5)
            if isCall { watch.worked(now: 6) } else { watch.claims() }
            #expect(watch.answered(nil, leads: false, now: 7) == .goOn)
            #expect(watch.asks(now: 8))
            #expect(watch.answered(nil, leads: false, now: 9) == .end)
        }
    }

    @Test func `a leader folds the counts of ended jobs before it ends`() {
        let watch = Watch(isBound: false)
        watch.worked(now: 10)
        watch.hasFolded(since: 9)
        _ = watch.asks(now: 11)
        #expect(watch.answered(nil, leads: true, now: 12) == .fold)
        watch.hasFolded(since: 13)
        _ = watch.asks(now: Self.second)
        #expect(watch.answered(nil, leads: true, now: Self.second + 1) == .end)
    }

    @Test func `a leader that cannot fold its counts within 5 s ends anyway`() {
        let watch = Watch(isBound: false)
        watch.worked(now: 0)
        _ = watch.asks(now: 4 * Self.second)
        #expect(watch.answered(nil, leads: true, now: 4 * Self.second) == .fold)
        _ = watch.asks(now: 5 * Self.second)
        #expect(watch.answered(nil, leads: true, now: 5 * Self.second) == .end)
    }

    @Test func `a failed or slow check for remaining work is repeated later`() {
        let watch = Watch(isBound: false)
        _ = watch.asks(now: 5)
        watch.askingFailed(now: 6)
        #expect(watch.due == 6 + RunOnceCheck.pause)
        // This answer belongs to a lost connection.
        #expect(watch.answered(nil, leads: false, now: 7) == .goOn)
        _ = watch.asks(now: Self.second)
        _ = watch.answered("ready", leads: false, now: 2 * Self.second)
        #expect(watch.due == 12 * Self.second)
    }

    @Test(arguments: [
        (false, "ready", 60), (true, "ready", 60), (false, "tree", 60), (true, "tree", 5), (true, "schedule", 5),
        (true, "lost worker", 60),
    ])
    func `a worker with --once gives up work that starts no call within 5 or 60 s`(
        isBound: Bool, left: String, seconds: UInt64
    ) {
        let watch = Watch(isBound: isBound)
        watch.worked(now: Self.second)
        let end = (1 + seconds) * Self.second
        _ = watch.asks(now: end - 2)
        #expect(watch.answered(left, leads: true, now: end - 1) == .goOn)
        _ = watch.asks(now: end + Self.second)
        #expect(watch.answered(left, leads: true, now: end + Self.second) == .giveUp(left))
        // The worker made a call meanwhile.
        watch.worked(now: end + 2 * Self.second)
        _ = watch.asks(now: end + 3 * Self.second)
        #expect(watch.answered(left, leads: true, now: end + 3 * Self.second) == .goOn)
    }

    @Test func `a leader that makes jobs ready waits for its intake but not for trees`() {
        let watch = Watch(isBound: true)
        watch.worked(now: 0)
        watch.makesReady(now: 40 * Self.second)
        _ = watch.asks(now: 70 * Self.second)
        #expect(watch.answered("intake", leads: true, now: 70 * Self.second) == .goOn)
        _ = watch.asks(now: 71 * Self.second)
        #expect(watch.answered("tree", leads: true, now: 71 * Self.second) == .giveUp("tree"))
    }

    /// A queue and a worker whose steps come in random order.
    ///
    /// A test inserts jobs and ends calls. Claims, finishes and questions are each sent, executed and answered. The
    /// execution of a finish may make another step ready.
    @Test func `in 3,000 random runs, a worker with --once leaves no job of its last check`() {
        for seed in 1...3_000 {
            var random = Randomness(seed: UInt64(seed))
            var watch = RunOnceCheck(isBound: false)
            var now: UInt64 = 0
            var inserts = Int(random.number(0...12))
            var ready = Int(random.number(0...6))
            var (claimSent, claimed, running, ended) = (false, Int?.none, 0, 0)
            var (finish, isFinished) = (Int?.none, false)
            var (isAsked, answer) = (false, Int??.none)
            // Jobs that were inserted after the last answer's snapshot.
            var later = 0
            var isOver = false
            var steps = 0
            while !isOver && steps < 5_000 {
                steps += 1
                now += random.number(0...50_000_000)
                switch random.number(0...8) {
                case 0 where inserts > 0:
                    inserts -= 1
                    ready += 1
                    later += 1
                case 1 where !claimSent: claimSent = true
                case 2 where claimSent && claimed == nil:
                    claimed = min(ready, 4)
                    ready -= min(ready, 4)
                case 3:
                    guard let jobs = claimed else { break }
                    running += jobs
                    (claimSent, claimed) = (false, nil)
                case 4 where running > 0:
                    running -= 1
                    ended += 1
                case 5 where ended > 0 && finish == nil: (finish, ended) = (ended, 0)
                case 6 where finish != nil && !isFinished:
                    isFinished = true
                    if random.chance(30) { ready += 1 }
                case 7 where isFinished: (finish, isFinished) = (nil, false)
                case 8 where isAsked:
                    guard let left = answer else {
                        answer = .some(ready > 0 ? ready : nil)
                        later = 0
                        break
                    }
                    (isAsked, answer) = (false, nil)
                    isOver = watch.answered(left.map { "\($0)" }, leads: false, now: now) == .end
                    if isOver {
                        #expect(!claimSent && running + ended == 0 && finish == nil && ready == later, "seed \(seed)")
                    }
                default: break
                }
                if isOver { break }
                if running + ended > 0 || finish != nil {
                    watch.worked(now: now)
                } else if claimSent {
                    watch.claims()
                } else if watch.asks(now: now) {
                    isAsked = true
                }
            }
            #expect(isOver, "seed \(seed)")
        }
    }
}
