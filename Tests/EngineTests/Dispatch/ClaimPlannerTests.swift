// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// Which claims follow from surveys, notifications, answers and grants.
struct ClaimPlannerTests {
    private let moment: UInt64 = 5_000_000_000

    /// A planner whose survey has found work in track 1.
    private func planner(lane: Int32 = 0) -> ClaimPlanner {
        var planner = ClaimPlanner(canListen: true)
        planner.surveyReturned([.init(track: 1, priority: 0, firstSeq: 5, lane: lane)], now: moment)
        return planner
    }

    /// The next claim for four slots, with no exchange under way.
    private func next(
        _ planner: inout ClaimPlanner, isAlone: Bool = true, takesLeasesOnly: Bool = false
    ) -> Exchange.Claim? {
        planner.next(slots: 4, isAlone: isAlone, takesLeasesOnly: takesLeasesOnly, inFlight: [:], now: moment)
    }

    /// Lets a claim bring jobs of track 1.
    private func answer(_ planner: inout ClaimPlanner, _ claim: Exchange.Claim?, _ seqs: [Int64]) {
        guard let claim else {
            Issue.record("no claim")
            return
        }
        var arrival = Arrival(claim: claim)
        for seq in seqs {
            planner.rowCame(.ofJob(seq))
            arrival.note(.ofJob(seq))
        }
        _ = planner.claimRead(arrival, now: moment)
    }

    @Test func `a claim takes rows behind the last claimed one, with a higher fence`() {
        var planner = planner()
        let first = next(&planner)
        #expect(first?.limit == 4 && first?.above == 0 && first?.visits.map(\.mark) == [4])
        answer(&planner, first, [5, 6, 7, 8])
        let second = next(&planner)
        #expect(second?.above == 7 && second?.visits.map(\.mark) == [8])
    }

    @Test func `after a claim that left no job, no claim follows before a notification, poll or follow-up`() {
        let events: [(String, (inout ClaimPlanner) -> Void)] = [
            ("notification", { _ = $0.jobsAnnounced(.job(AnnouncedJob(track: 1, id: 9)), now: 5_000_000_000) }),
            ("poll", { _ = $0.poll(isIdle: true, now: 6_000_000_000) }),
            ("next step", { $0.attemptsStored([], .tree, claims: true) }),
            ("next page", { $0.attemptsStored([], .page, claims: false) }),
            ("listening", { $0.listeningBegan() }),
            ("new number", { $0.enlisted(isOtherDatabase: false) }),
        ]
        for (name, event) in events {
            var planner = planner()
            let claim = next(&planner)
            answer(&planner, claim, [5])
            #expect(!planner.mayFindJobs, "\(name)")
            event(&planner)
            #expect(planner.mayFindJobs, "\(name)")
        }
        var planner = planner()
        let claim = next(&planner)
        answer(&planner, claim, [5])
        // The claim in the transaction of the finish has seen the next page.
        planner.attemptsStored([], .page, claims: true)
        #expect(!planner.mayFindJobs)
        _ = planner.poll(isIdle: false, now: moment * 2)
        #expect(!planner.mayFindJobs)
    }

    @Test func `an announced job is claimed alone, unless attempts are to be written or a claim has failed`() {
        for (isAlone, takesLeasesOnly) in [(true, false), (false, false), (true, true)] {
            var planner = planner()
            let whole = next(&planner)
            answer(&planner, whole, [])
            #expect(planner.surveyBegins(now: moment) == true)
            _ = planner.jobsAnnounced(.job(AnnouncedJob(track: 1, id: 9)), now: moment)
            let claim = next(&planner, isAlone: isAlone, takesLeasesOnly: takesLeasesOnly)
            let isSingle = isAlone && !takesLeasesOnly
            #expect(claim?.announced?.id == (isSingle ? 9 : nil))
            #expect(claim?.takesLeasesOnly == takesLeasesOnly)
            // A whole claim may miss the announced job, if it stands below the watermark.
            #expect(planner.schedule.wantsSurvey == !isSingle)
        }
    }

    @Test func `a job that goes back to its old place is claimed again from there`() {
        var planner = planner()
        let first = next(&planner)
        answer(&planner, first, [5, 6, 7, 8])
        let attempt = FinishedAttempt(lease: .ofJob(6), verdict: Verdict(.held), outcome: nil)
        planner.attemptsStored([attempt], [], claims: false)
        #expect(next(&planner)?.visits.map(\.mark) == [5])
    }

    @Test func `a track whose lane has no permits is visited only after a grant`() {
        var planner = planner(lane: 3)
        #expect(planner.hasLanes && !planner.usesLanes)
        let parked = next(&planner)
        #expect(parked == nil && !planner.mayFindJobs)
        #expect(planner.laneRequests(free: 4, now: moment).map(\.lane) == [3])
        planner.lanesGranted(
            [LaneGrant(lane: 3, permits: 2, share: 2, slots: nil, first: 0, spacing: 0, tolerance: 0)], now: moment)
        planner.unpark(now: moment)
        #expect(planner.expected(of: 4, now: moment) == 2)
        let claim = next(&planner)
        #expect(claim?.visits.map(\.cap) == [2] && planner.usesLanes)
        if let claim { planner.giveBack(claim, now: moment) }
        #expect(!planner.usesLanes)
    }

    @Test func `a worker in another database forgets its tracks and lanes`() {
        var planner = planner(lane: 3)
        planner.enlisted(isOtherDatabase: true)
        #expect(!planner.hasLanes && !planner.mayFindJobs)
        #expect(planner.schedule.wantsSurvey)
    }
}
