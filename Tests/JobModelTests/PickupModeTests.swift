// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

struct PickupModeTests {
    private func listening() -> PickupMode {
        var mode = PickupMode(canListen: true)
        for _ in 0..<25 { _ = mode.claimReturned(rows: 0, limit: 8) }
        return mode
    }

    @Test func `a worker polls every 2 ms and listens after 25 empty claims in a row`() {
        var mode = PickupMode(canListen: true)
        #expect(mode.interval == 2_000_000)
        for _ in 0..<24 { #expect(mode.claimReturned(rows: 0, limit: 8) == .none) }
        #expect(mode.claimReturned(rows: 1, limit: 8) == .none)
        for _ in 0..<24 { #expect(mode.claimReturned(rows: 0, limit: 8) == .none) }
        #expect(!mode.isListening)
        #expect(mode.claimReturned(rows: 0, limit: 8) == .listen)
        #expect(mode.isListening)
        #expect(mode.interval == PickupMode.fallbackInterval)
        #expect(PickupMode.fallbackInterval == 250_000_000)
    }

    @Test func `a worker that listens does not start to listen again`() {
        var mode = listening()
        for _ in 0..<100 { #expect(mode.claimReturned(rows: 0, limit: 8) == .none) }
    }

    @Test func `a worker stops listening after 20 full claims in a row`() {
        var mode = listening()
        for _ in 0..<19 { #expect(mode.claimReturned(rows: 8, limit: 8) == .none) }
        #expect(mode.claimReturned(rows: 7, limit: 8) == .none)
        for _ in 0..<19 { #expect(mode.claimReturned(rows: 8, limit: 8) == .none) }
        #expect(mode.claimReturned(rows: 8, limit: 8) == .stopListening)
        #expect(!mode.isListening)
        #expect(mode.interval == 2_000_000)
    }

    @Test func `a worker stops listening after more than 100 notifications in half a second`() {
        var mode = listening()
        for count in 0..<100 { #expect(mode.notified(now: 10_000_000_000 + UInt64(count)) == .none) }
        #expect(mode.notified(now: 10_000_000_100) == .stopListening)
        #expect(mode.notified(now: 10_000_000_101) == .none)
    }

    @Test func `a worker keeps listening at 200 evenly spread notifications per second`() {
        var mode = listening()
        for count in 0..<2_000 { #expect(mode.notified(now: 10_000_000_000 + UInt64(count) * 5_000_000) == .none) }
        #expect(mode.isListening)
    }

    @Test func `a worker that cannot listen falls back to polls every 250 ms`() {
        var mode = PickupMode(canListen: false)
        for _ in 0..<100 { #expect(mode.claimReturned(rows: 0, limit: 8) == .none) }
        #expect(mode.interval == PickupMode.fallbackInterval)
        #expect(mode.claimReturned(rows: 1, limit: 8) == .none)
        #expect(mode.interval == 2_000_000)
    }

    @Test func `a worker polls after a lost connection and listens again after 25 empty claims`() {
        var mode = listening()
        mode.connectionLost()
        #expect(!mode.isListening)
        #expect(mode.interval == 2_000_000)
        for _ in 0..<24 { #expect(mode.claimReturned(rows: 0, limit: 8) == .none) }
        #expect(mode.claimReturned(rows: 0, limit: 8) == .listen)
    }
}
