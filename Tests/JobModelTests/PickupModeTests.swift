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

    @Test func `a worker stands by while 16 workers of its queues listen`() {
        var mode = listening()
        #expect(mode.counted(listeners: 15, peers: 500) == .none)
        #expect(mode.isListening && !mode.isStandingBy)
        #expect(mode.counted(listeners: 16, peers: 32) == .standBy)
        #expect(!mode.isListening && mode.isStandingBy)
        #expect(mode.interval == 4 * PickupMode.fallbackInterval)
        #expect(mode.counted(listeners: 8, peers: 64) == .none)
        #expect(mode.interval == 8 * PickupMode.fallbackInterval)
        for _ in 0..<100 { #expect(mode.claimReturned(rows: 0, limit: 8) == .none) }
        #expect(mode.notified(now: 10_000_000_000) == .none)
        #expect(mode.counted(listeners: 7, peers: 64) == .wake)
        #expect(!mode.isStandingBy)
        #expect(mode.interval == 2_000_000)
        #expect(mode.fallback == PickupMode.fallbackInterval)
    }

    @Test(arguments: [
        (0, 250, 250), (8, 250, 250), (16, 500, 500), (17, 531, 531), (32, 1_000, 1_000), (320, 1_000, 10_000),
        (480, 1_000, 15_000), (100_000, 1_000, 15_000),
    ])
    func `all workers together look 32 times a second, and each at least every 15 s`(
        peers: Int, listening: UInt64, standby: UInt64
    ) {
        var mode = self.listening()
        #expect(mode.counted(listeners: 0, peers: peers) == .none)
        #expect(mode.interval / 1_000_000 == listening)
        #expect(mode.counted(listeners: 16, peers: peers) == .standBy)
        #expect(mode.interval / 1_000_000 == standby)
        #expect(mode.fallback == mode.interval)
    }

    @Test(arguments: [(0, 1), (47, 1), (48, 2), (300, 7), (480, 10), (100_000, 10)])
    func `the more peers there are, the fewer heartbeats count them`(peers: Int, beats: Int) {
        var mode = listening()
        var counts = mode.beatBegins()
        #expect(counts)
        for beat in 1...2 * beats {
            _ = beat % beats == 1 || beats == 1 ? mode.counted(listeners: 0, peers: peers) : .none
            counts = mode.beatBegins()
            #expect(counts == beat.isMultiple(of: beats))
        }
    }

    @Test func `only a worker that listens or stands by counts its peers`() {
        var mode = PickupMode(canListen: true)
        var counts = mode.beatBegins()
        #expect(!counts)
        mode = listening()
        #expect(mode.counted(listeners: 16, peers: 40) == .standBy)
        counts = mode.beatBegins()
        #expect(counts)
        mode.connectionLost()
        counts = mode.beatBegins()
        #expect(!counts)
    }

    @Test func `a worker that listens again counts its peers at once`() {
        var mode = listening()
        _ = mode.counted(listeners: 0, peers: 500)
        var counts = mode.beatBegins()
        #expect(!counts)
        mode.connectionLost()
        for _ in 0..<25 { _ = mode.claimReturned(rows: 0, limit: 8) }
        counts = mode.beatBegins()
        #expect(counts)
    }

    @Test func `a worker that finds jobs while it stands by wakes up`() {
        var mode = listening()
        #expect(mode.counted(listeners: 16, peers: 100) == .standBy)
        #expect(mode.claimReturned(rows: 1, limit: 8) == .wake)
        #expect(!mode.isStandingBy)
        for _ in 0..<24 { #expect(mode.claimReturned(rows: 0, limit: 8) == .none) }
        #expect(mode.claimReturned(rows: 0, limit: 8) == .listen)
    }

    @Test func `a busy worker, and one that cannot listen, do not stand by`() {
        var busy = PickupMode(canListen: true)
        #expect(busy.counted(listeners: 16, peers: 100) == .none)
        var pooled = PickupMode(canListen: false)
        for _ in 0..<100 { _ = pooled.claimReturned(rows: 0, limit: 8) }
        #expect(pooled.counted(listeners: 16, peers: 100) == .none)
        #expect(pooled.interval == PickupMode.fallbackInterval)
    }
}
