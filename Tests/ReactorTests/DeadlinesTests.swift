// SPDX-License-Identifier: Apache-2.0

import Reactor
import Testing

struct DeadlinesTests {
    @Test func `timers come out in order, and only when their time has come`() {
        var timers = Deadlines()
        for (key, deadline) in [(1, 30), (2, 10), (3, 20)] as [(UInt64, UInt64)] { timers.set(key, at: deadline) }
        #expect(timers.earliest == 10)
        #expect(timers.popExpired(now: 9) == nil)
        #expect(timers.popExpired(now: 20) == 2)
        #expect(timers.popExpired(now: 20) == 3)
        #expect(timers.popExpired(now: 20) == nil)
        #expect(timers.earliest == 30)
    }

    @Test func `a timer set again has only its new time, and a cancelled one never comes`() {
        var timers = Deadlines()
        timers.set(1, at: 10)
        timers.set(2, at: 20)
        timers.set(1, at: 30)
        timers.cancel(2)
        timers.cancel(99)
        #expect(timers.count == 1)
        #expect(timers.popExpired(now: 29) == nil)
        #expect(timers.popExpired(now: 30) == 1)
        #expect(timers.earliest == nil)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `any sequence of changes agrees with a plain dictionary`(seed: UInt64) {
        var state = seed
        func random(_ below: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % below
        }
        var timers = Deadlines()
        var model: [UInt64: UInt64] = [:]
        for _ in 0..<2000 {
            let key = random(50)
            switch random(4) {
            case 0:
                timers.cancel(key)
                model[key] = nil
            case 1:
                let now = random(1000)
                if let popped = timers.popExpired(now: now) {
                    #expect(model[popped] == model.values.min())
                    model[popped] = nil
                } else {
                    #expect((model.values.min() ?? .max) > now)
                }
            default:
                let deadline = random(1000)
                timers.set(key, at: deadline)
                model[key] = deadline
            }
            #expect(timers.earliest == model.values.min())
            #expect(timers.count == model.count)
        }
    }
}
