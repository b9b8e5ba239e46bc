// SPDX-License-Identifier: Apache-2.0

import JobModel
import TestSupport
import Testing

/// The calls that a worker may start in lanes with limits. Times in milliseconds.
struct LanePermitsTests {
    private static func ms(_ time: UInt64) -> UInt64 { time * 1_000_000 }

    private func lanePermits(_ lanes: Int32...) -> LanePermits {
        var lanePermits = LanePermits()
        for lane in lanes { lanePermits.know(lane) }
        return lanePermits
    }

    private func grant(
        _ lane: Int32, permits: Int32? = nil, share: Int32 = 0, slots: Int32? = nil, first: UInt64 = 0,
        spacing: UInt64 = Self.ms(20)
    ) -> LaneGrant {
        LaneGrant(
            lane: lane, permits: permits, share: share, slots: slots, first: Self.ms(first), spacing: spacing,
            tolerance: Self.ms(20))
    }

    @Test func `a limited lane has no room before permits arrive, and requests permits at once`() {
        var lanePermits = lanePermits(1)
        #expect(lanePermits.room(1, now: Self.ms(1000)) == 0)
        let wishes = lanePermits.request(free: 8, now: Self.ms(1000)) { _ in true }
        #expect(wishes == [LaneRequest(lane: 1, used: 0, hold: 8, slots: 0)])
        #expect(lanePermits.request(free: 8, now: Self.ms(1000)) { _ in true } == [], "one is under way")
        lanePermits.requestFailed()
        #expect(lanePermits.request(free: 8, now: Self.ms(1100)) { _ in true }.count == 1)
    }

    @Test func `permits limit the calls in flight of a lane, including claims in flight`() {
        var lanePermits = lanePermits(1)
        _ = lanePermits.request(free: 8, now: Self.ms(1000)) { _ in true }
        lanePermits.granted([grant(1, permits: 3, share: 10)], now: Self.ms(1001))
        #expect(lanePermits.room(1, now: Self.ms(1001)) == 3)
        lanePermits.reserve(1, 3)
        #expect(lanePermits.room(1, now: Self.ms(1001)) == 0)
        lanePermits.unreserve(1, 1, now: Self.ms(1002))
        #expect(lanePermits.room(1, now: Self.ms(1002)) == 1)
        #expect(lanePermits.admit(1, slot: 0, now: Self.ms(1002)) == true)
        lanePermits.released(1, slot: 0, isStarted: true, now: Self.ms(1003))
        #expect(lanePermits.room(1, now: Self.ms(1003)) == 2)
    }

    @Test func `a worker above its share of a lane starts no further call`() {
        var lanePermits = lanePermits(1)
        _ = lanePermits.request(free: 8, now: Self.ms(1000)) { _ in true }
        lanePermits.granted([grant(1, permits: 6, share: 6)], now: Self.ms(1001))
        lanePermits.reserve(1, 6)
        for slot in 0..<6 { #expect(lanePermits.admit(1, slot: slot, now: Self.ms(1001)) == true) }
        _ = lanePermits.request(free: 2, now: Self.ms(2500)) { _ in true }
        lanePermits.granted([grant(1, permits: 6, share: 4)], now: Self.ms(2501))
        lanePermits.released(1, slot: 0, isStarted: true, now: Self.ms(2502))
        #expect(lanePermits.room(1, now: Self.ms(2502)) == 0)
        // The worker does not need one permit and returns it at once.
        #expect(lanePermits.request(free: 3, now: Self.ms(2507)) { _ in true }.first?.used == 5)
    }

    @Test func `a job is claimed shortly before its slot, starts at the slot, and late slots expire`() {
        var lanePermits = lanePermits(1)
        _ = lanePermits.request(free: 8, now: Self.ms(1000)) { _ in true }
        lanePermits.granted([grant(1, slots: 0)], now: Self.ms(1001))
        #expect(lanePermits.request(free: 2, now: Self.ms(1010)) { _ in true }.first?.slots == 2)
        lanePermits.granted([grant(1, slots: 2, first: 1100)], now: Self.ms(1011))
        #expect(lanePermits.room(1, now: Self.ms(1050)) == 0)
        #expect(lanePermits.room(1, now: Self.ms(1095)) == 1)
        lanePermits.reserve(1, 1)
        #expect(lanePermits.room(1, now: Self.ms(1095)) == 0)
        #expect(lanePermits.admit(1, slot: 5, now: Self.ms(1097)) == false)
        #expect(lanePermits.nextStart(now: Self.ms(1099)) == nil)
        #expect(
            lanePermits.deadline(free: 0, canRequest: false, claims: false, now: Self.ms(1099)) { _ in false }
                == Self.ms(1100))
        #expect(lanePermits.nextStart(now: Self.ms(1101)) == 5)
        #expect(lanePermits.nextStart(now: Self.ms(1101)) == nil)
        // The second slot, at 1120 ms, can be used until 1140 ms.
        #expect(lanePermits.room(1, now: Self.ms(1139)) == 1)
        #expect(lanePermits.room(1, now: Self.ms(1141)) == 0)
    }

    /// A lane with 10,000 calls per second, from 1100 ms on.
    private func fast(_ slots: Int32) -> LanePermits {
        var lanePermits = lanePermits(1)
        _ = lanePermits.request(free: 64, now: Self.ms(1000)) { _ in true }
        lanePermits.granted([grant(1, slots: 0)], now: Self.ms(1001))
        _ = lanePermits.request(free: 64, now: Self.ms(1010)) { _ in true }
        lanePermits.granted([grant(1, slots: slots, first: 1100, spacing: 100_000)], now: Self.ms(1011))
        return lanePermits
    }

    @Test func `slots right behind a near slot are claimed together, up to half of the wanted number`() {
        var lanePermits = fast(500)
        // A claim is expected to take 10 ms.
        #expect(lanePermits.room(1, wanted: 64, now: Self.ms(1089)) == 0)
        #expect(lanePermits.room(1, wanted: 64, now: Self.ms(1090)) == 32)
        #expect(lanePermits.room(1, wanted: 200, now: Self.ms(1090)) == 51)
        #expect(
            lanePermits.room(1, wanted: 64, now: Self.ms(1094)) == 41, "those that are near themselves are not halved")
        lanePermits.reserve(1, 51)
        #expect(lanePermits.room(1, wanted: 64, now: Self.ms(1095)) == 0)
        #expect(
            lanePermits.deadline(free: 64, canRequest: false, claims: true, now: Self.ms(1090)) { _ in true }
                == 1_095_100_000)
    }

    @Test func `calls of slots within a millisecond start together, and no call before its slot`() {
        var lanePermits = fast(500)
        lanePermits.reserve(1, 20)
        for slot in 0..<20 { #expect(lanePermits.admit(1, slot: slot, now: Self.ms(1095)) == false) }
        #expect(
            lanePermits.deadline(free: 0, canRequest: false, claims: false, now: Self.ms(1095)) { _ in false }
                == Self.ms(1101))
        #expect(lanePermits.nextStart(now: Self.ms(1100) - 1) == nil)
        for slot in 0..<11 { #expect(lanePermits.nextStart(now: Self.ms(1101)) == slot) }
        #expect(lanePermits.nextStart(now: Self.ms(1101)) == nil)
        // Nine slots are left, so the worker wakes for the ninth.
        #expect(
            lanePermits.deadline(free: 0, canRequest: false, claims: false, now: Self.ms(1101)) { _ in false }
                == 1_101_900_000)
    }

    @Test func `a worker requests slots for as many calls as started in the previous period`() {
        var lanePermits = fast(100)
        lanePermits.reserve(1, 100)
        for slot in 0..<100 { _ = lanePermits.admit(1, slot: slot, now: Self.ms(1095)) }
        for slot in 0..<100 { #expect(lanePermits.nextStart(now: Self.ms(1110)) == slot) }
        // 100 calls began in the 100 ms since the previous request for permits. So 50 are expected in the next 50 ms,
        // though only 10 could begin at once.
        #expect(lanePermits.request(free: 10, now: Self.ms(1110)) { _ in true }.first?.slots == 50)
    }

    @Test func `jobs start in claim order, and a cancelled job passes its slot to the next`() {
        var lanePermits = lanePermits(1)
        _ = lanePermits.request(free: 8, now: Self.ms(1000)) { _ in true }
        lanePermits.granted([grant(1, slots: 3, first: 1100)], now: Self.ms(1001))
        lanePermits.reserve(1, 3)
        for slot in [7, 3, 5] { #expect(lanePermits.admit(1, slot: slot, now: Self.ms(1002)) == false) }
        lanePermits.released(1, slot: 7, isStarted: false, now: Self.ms(1003))
        #expect(lanePermits.nextStart(now: Self.ms(1100)) == 3)
        #expect(lanePermits.nextStart(now: Self.ms(1125)) == 5)
        #expect(lanePermits.nextStart(now: Self.ms(1145)) == nil)
    }

    @Test func `a worker returns unneeded permits and does not use permits before they are confirmed`() {
        var lanePermits = lanePermits(1)
        _ = lanePermits.request(free: 8, now: Self.ms(1000)) { _ in true }
        lanePermits.granted([grant(1, permits: 3, share: 3)], now: Self.ms(1001))
        lanePermits.reserve(1, 1)
        #expect(lanePermits.admit(1, slot: 0, now: Self.ms(1002)) == true)
        lanePermits.released(1, slot: 0, isStarted: true, now: Self.ms(1010))
        #expect(lanePermits.request(free: 8, now: Self.ms(1100)) { _ in false } == [])
        #expect(
            lanePermits.request(free: 8, now: Self.ms(1400)) { _ in false } == [
                LaneRequest(lane: 1, used: 0, hold: 0, slots: 0)
            ])
        lanePermits.requestAgain()
        #expect(lanePermits.room(1, now: Self.ms(1400)) == 0)
    }

    @Test func `a worker with unused permits for a second requests one more than it used`() {
        var lanePermits = lanePermits(1)
        _ = lanePermits.request(free: 8, now: Self.ms(1000)) { _ in true }
        lanePermits.granted([grant(1, permits: 6, share: 6)], now: Self.ms(1001))
        lanePermits.reserve(1, 2)
        _ = lanePermits.request(free: 6, now: Self.ms(2000)) { _ in true }
        lanePermits.granted([grant(1, permits: 6, share: 6)], now: Self.ms(2001))
        lanePermits.unreserve(1, 1, now: Self.ms(2002))
        let request = LaneRequest(lane: 1, used: 1, hold: 3, slots: 0)
        #expect(lanePermits.request(free: 7, now: Self.ms(3001)) { _ in true } == [request])
        lanePermits.granted([grant(1, permits: 3, share: 6)], now: Self.ms(3002))
        // While all permits are in use, the worker asks for as many as it could use.
        lanePermits.reserve(1, 2)
        #expect(
            lanePermits.request(free: 5, now: Self.ms(3010)) { _ in true } == [
                LaneRequest(lane: 1, used: 3, hold: 8, slots: 0)
            ])
    }

    @Test func `a lane without limits admits every call`() {
        var lanePermits = lanePermits(1)
        _ = lanePermits.request(free: 8, now: Self.ms(1000)) { _ in true }
        lanePermits.granted([grant(1)], now: Self.ms(1001))
        #expect(lanePermits.room(1, now: Self.ms(1001)) > 1_000_000)
        #expect(lanePermits.admit(1, slot: 0, now: Self.ms(1001)) == true)
        #expect(lanePermits.admit(9, slot: 1, now: Self.ms(1001)) == true, "one that was never known, too")
    }

    @Test func `tracks of a lane without permits are parked and get no visits`() {
        var tracks = KnownTracks()
        var lanes = LanePermits()
        tracks.surveyReturned(
            [
                .init(track: 1, priority: 4, firstSeq: 1, lane: 7), .init(track: 2, priority: 0, firstSeq: 1, lane: 7),
                .init(track: 3, priority: 0, firstSeq: 1),
            ], lanes: &lanes)
        #expect(tracks.plan(limit: 8, inFlight: [:], lanes: &lanes, now: Self.ms(1000)).map(\.track) == [3])
        #expect(tracks.isWanted(7))
        #expect(tracks.unpark(&lanes, now: Self.ms(1000)) == false)
        _ = lanes.request(free: 8, now: Self.ms(1000)) { tracks.isWanted($0) }
        lanes.granted([grant(7, permits: 3, share: 3)], now: Self.ms(1001))
        #expect(tracks.unpark(&lanes, now: Self.ms(1001)) == true)
        // Together the visits take no more than the acquired permits. The track of higher priority comes first.
        let visits = tracks.plan(limit: 8, inFlight: [:], lanes: &lanes, now: Self.ms(1001))
        #expect(visits.map(\.track) == [1, 3])
        #expect(visits.map(\.cap) == [3, 4])
        #expect(visits.map(\.lane) == [7, 0])
        for visit in visits where visit.lane != 0 { lanes.unreserve(7, 3, now: Self.ms(1002)) }
        tracks.claimReturned(visits, limit: 8, found: [:])
        // The first track is exhausted. The second still holds work and gets its turn.
        #expect(tracks.isWanted(7))
        #expect(tracks.unpark(&lanes, now: Self.ms(1002)) == true)
        #expect(
            tracks.plan(limit: 8, inFlight: [:], lanes: &lanes, now: Self.ms(1002)).contains {
                $0.track == 2 && $0.cap == 3
            })
    }

    @Test func `free slots go to other tracks at once while a lane waits for permits`() {
        var tracks = KnownTracks()
        var lanes = LanePermits()
        tracks.surveyReturned(
            [.init(track: 1, priority: 0, firstSeq: 1), .init(track: 2, priority: 0, firstSeq: 1, lane: 7)],
            lanes: &lanes)
        // The first track holds more than half of all slots. The worker has no permits for the second track's lane.
        #expect(tracks.plan(limit: 2, inFlight: [1: 6], lanes: &lanes, now: Self.ms(1000)).map(\.track) == [1])
        #expect(tracks.isWanted(7))
    }

    @Test(arguments: UInt64(1)...200)
    func `a plan is never empty while a track without limits has work`(seed: UInt64) {
        var random = Randomness(seed: seed)
        var tracks = KnownTracks()
        var lanes = LanePermits()
        let free = (1...3 as ClosedRange<Int32>).filter { _ in random.chance(60) }
        let limited = (4...9 as ClosedRange<Int32>).filter { _ in random.chance(60) }
        tracks.surveyReturned(
            (free + limited).map { track in
                .init(
                    track: track, priority: Int16(random.number(0...1)), firstSeq: 1,
                    lane: track < 4 ? 0 : 10 + track % 3)
            }, lanes: &lanes)
        let known = lanes.request(free: 8, now: Self.ms(1000)) { _ in random.chance(70) }
        lanes.granted(
            known.map {
                let permits = Int32(random.number(0...2))
                return grant($0.lane, permits: permits, share: permits)
            }, now: Self.ms(1000))
        for _ in 1...4 where !free.isEmpty {
            let running = (free + limited).filter { _ in random.chance(50) }
            let inFlight = Dictionary(uniqueKeysWithValues: running.map { ($0, Int(random.number(1...30))) })
            let limit = Int(random.number(1...8))
            #expect(!tracks.plan(limit: limit, inFlight: inFlight, lanes: &lanes, now: Self.ms(1001)).isEmpty)
        }
    }

    @Test func `a claim expects the jobs that limits allow, or its full number with a backlog`() {
        var lanes = fast(500)
        var tracks = KnownTracks()
        #expect(tracks.expected(of: 64, lanes: &lanes, now: Self.ms(1090)) == 64, "nothing is known yet")
        tracks.surveyReturned([.init(track: 1, priority: 0, firstSeq: 1, lane: 1)], lanes: &lanes)
        #expect(tracks.hasBacklog == false)
        #expect(tracks.expected(of: 64, lanes: &lanes, now: Self.ms(1050)) == 0)
        #expect(tracks.expected(of: 64, lanes: &lanes, now: Self.ms(1090)) == 32)
        tracks.surveyReturned([.init(track: 2, priority: 0, firstSeq: 1)], lanes: &lanes)
        #expect(tracks.hasBacklog == true)
        #expect(tracks.expected(of: 64, lanes: &lanes, now: Self.ms(1050)) == 64)
        // A claim found the lane's tracks empty. The next claims check them in addition to other tracks.
        let visits = tracks.plan(limit: 64, inFlight: [:], lanes: &lanes, now: Self.ms(1050))
        tracks.claimReturned(visits, limit: 64, found: [:])
        #expect(tracks.hasBacklog == false)
        #expect(tracks.expected(of: 64, lanes: &lanes, now: Self.ms(1050)) == 1)
    }

    @Test func `tracks follow a lane's limits that appear or disappear between surveys`() {
        var tracks = KnownTracks()
        var lanes = LanePermits()
        func see(_ lane: Int32) {
            tracks.surveyReturned([.init(track: 1, priority: 0, firstSeq: 1, lane: lane)], lanes: &lanes)
        }
        see(0)
        #expect(tracks.plan(limit: 8, inFlight: [:], lanes: &lanes, now: 0).map(\.cap) == [8])
        see(7)
        #expect(tracks.plan(limit: 8, inFlight: [:], lanes: &lanes, now: 0).isEmpty)
        #expect(!tracks.canVisit)
        see(0)
        #expect(tracks.canVisit)
        #expect(tracks.plan(limit: 8, inFlight: [:], lanes: &lanes, now: 0).map(\.lane) == [0])
        #expect(!tracks.isWanted(7))
        see(0)
        #expect(lanes.isEmpty)
    }

    @Test func `the database clock is estimated from the fastest answer and again after a change`() {
        var clock = DatabaseClock()
        #expect(clock.local(microseconds: 5) == nil)
        // The database clock was read at 1,005 ms local time and showed 1,000,000 s.
        clock.note(sent: Self.ms(1000), received: Self.ms(1010), microseconds: 1_000_000_000_000)
        #expect(clock.local(microseconds: 1_000_000_000_000) == Self.ms(1005))
        clock.note(sent: Self.ms(2000), received: Self.ms(2002), microseconds: 1_000_000_996_000)
        #expect(clock.local(microseconds: 1_000_000_996_000) == Self.ms(2001))
        // A slow answer is less precise.
        clock.note(sent: Self.ms(3000), received: Self.ms(3100), microseconds: 1_000_002_040_000)
        #expect(clock.local(microseconds: 1_000_000_996_000) == Self.ms(2001))
        // The database clock moved by an hour, the local clock by a second.
        clock.note(sent: Self.ms(4000), received: Self.ms(4100), microseconds: 1_003_600_000_000)
        #expect(clock.local(microseconds: 1_003_600_000_000) == Self.ms(4050))
        #expect(clock.local(microseconds: 0) == 0)
    }
}
