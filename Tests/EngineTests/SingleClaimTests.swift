// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

@testable import Engine

/// The claim of the one job that a notification names, and the cases that need a whole claim.
struct SingleClaimTests {
    private let moment: UInt64 = 5_000_000_000

    /// An enlisted dispatcher that knows track 1 and has found it empty.
    private func dispatcher() -> Dispatcher {
        var dispatcher = Dispatcher.surveyed(capacity: 4, firstSeq: 5, at: moment)
        answer(&dispatcher, [])
        return dispatcher
    }

    private func job(_ id: Int64) -> AnnouncedJob { AnnouncedJob(track: 1, id: id) }

    private func announce(_ id: Int64) -> Announcement { .job(job(id)) }

    /// The claim of the next exchange, which stays in flight.
    private func claim(_ dispatcher: inout Dispatcher, at time: UInt64? = nil) -> Exchange.Claim? {
        dispatcher.nextExchange(now: time ?? moment)?.exchange.claim
    }

    /// Sends the next exchange, and lets it return jobs of track 1.
    private func answer(_ dispatcher: inout Dispatcher, _ seqs: [Int64]) {
        let jobs = seqs.map { seq in
            ClaimedJob(
                lease: .ofJob(seq), call: HTTPCall(url: "http://h/"), isAtMostOnce: false, okStatuses: .success)
        }
        if dispatcher.claim(jobs, at: moment) == nil { Issue.record("no claim") }
    }

    @Test func `a notification of a job causes one claim of that job and no survey`() {
        var dispatcher = dispatcher()
        _ = dispatcher.surveyBegins(now: moment)
        _ = dispatcher.jobsAnnounced(announce(9), now: moment)
        answer(&dispatcher, [9])
        let next = claim(&dispatcher)
        #expect(next == nil)
        #expect(!dispatcher.claims.schedule.wantsSurvey)
        _ = dispatcher.jobsAnnounced(announce(12), now: moment)
        let single = claim(&dispatcher)
        #expect(single?.announced == job(12))
        #expect(single?.limit == 1)
        #expect(single?.visits.map(\.track) == [1])
        #expect(single?.visits.map(\.mark) == [9])
        #expect(single?.above == 7)
    }

    @Test func `after an empty single claim, claims are full for the next second`() {
        var dispatcher = dispatcher()
        _ = dispatcher.surveyBegins(now: moment)
        _ = dispatcher.jobsAnnounced(announce(9), now: moment)
        answer(&dispatcher, [])
        // The job may have been committed late, at a place that this worker's claims have passed.
        #expect(dispatcher.claims.schedule.wantsSurvey)
        let whole = dispatcher.nextExchange(now: moment)
        #expect(whole?.exchange.claim?.announced == nil)
        #expect(whole?.exchange.claim?.limit == 4)
        guard let arrival = dispatcher.claimReturned(whole?.number ?? 0) else { return }
        _ = dispatcher.claimRead(arrival, now: moment)
        _ = dispatcher.jobsAnnounced(announce(9), now: moment + 999_999_999)
        let early = claim(&dispatcher, at: moment + 999_999_999)
        #expect(early?.announced == nil)
    }

    @Test func `a single claim is the only claim in flight until the next notification`() {
        var dispatcher = dispatcher()
        _ = dispatcher.jobsAnnounced(announce(9), now: moment)
        let single = claim(&dispatcher)
        #expect(single?.announced == job(9))
        let beside = claim(&dispatcher)
        #expect(beside == nil)
        _ = dispatcher.jobsAnnounced(announce(9), now: moment)
        let whole = claim(&dispatcher)
        #expect(whole?.announced == nil)
        #expect(whole?.limit == 3)
    }

    @Test func `a worker without known tracks surveys at once after a notification`() {
        var dispatcher = Dispatcher.enlisted(capacity: 4)
        _ = dispatcher.surveyBegins(now: moment)
        dispatcher.claims.surveyReturned([], now: moment)
        while dispatcher.nextExchange(now: moment) != nil {}
        _ = dispatcher.jobsAnnounced(announce(9), now: moment)
        #expect(dispatcher.claims.schedule.wantsSurvey)
    }

    @Test func `a tree change together with a job's notification causes a full claim`() {
        var dispatcher = dispatcher()
        _ = dispatcher.jobsAnnounced(announce(9), now: moment)
        dispatcher.claims.treesChanged()
        let whole = claim(&dispatcher)
        #expect(whole?.announced == nil)
        #expect(whole?.limit == 4)
    }

    @Test(arguments: [
        "", "abort", "7", "x 9", "7 ", "7 x", "7 8 9", "99999999999 1", "ready", "ready 7", "ready 7:", "ready 7:8 9",
        "ready 7:8:9", "ready x:9",
    ])
    func `a notification payload without track and job id names no job`(payload: String) {
        #expect(Announcement(payload: payload) == .unnamed)
    }

    @Test func `a notification payload names one job, or the first job of each track`() {
        #expect(Announcement(payload: "7 12") == .job(AnnouncedJob(track: 7, id: 12)))
        #expect(
            Announcement(payload: "ready 7:12 9:-3")
                == .ready([AnnouncedJob(track: 7, id: 12), AnnouncedJob(track: 9, id: -3)]))
    }

    @Test func `announced jobs of known tracks cause a full claim and no survey`() {
        var dispatcher = dispatcher()
        _ = dispatcher.surveyBegins(now: moment)
        _ = dispatcher.jobsAnnounced(announce(7), now: moment)
        answer(&dispatcher, [7])
        _ = dispatcher.jobsAnnounced(.ready([job(9)]), now: moment)
        answer(&dispatcher, [9, 10])
        #expect(!dispatcher.claims.schedule.wantsSurvey)
        // Job 8 was committed late, below the watermark. The next claim begins before it.
        _ = dispatcher.jobsAnnounced(.ready([job(8)]), now: moment)
        let next = claim(&dispatcher)
        #expect(next?.announced == nil)
        #expect(next?.visits.map(\.mark) == [7])
        #expect(!dispatcher.claims.schedule.wantsSurvey)
    }

    @Test func `an announced job far below the watermark is left to a survey`() {
        var dispatcher = dispatcher()
        _ = dispatcher.surveyBegins(now: moment)
        _ = dispatcher.jobsAnnounced(announce(5000), now: moment)
        answer(&dispatcher, [5000])
        _ = dispatcher.jobsAnnounced(.ready([job(4000)]), now: moment)
        #expect(dispatcher.claims.schedule.wantsSurvey)
    }

    @Test(arguments: [
        "two at once", "of no track", "of an unknown track", "during a claim", "beside a finish", "backlog",
    ])
    func `a notification that may concern more than one job causes a full claim`(news: String) {
        var dispatcher = dispatcher()
        _ = dispatcher.surveyBegins(now: moment)
        switch news {
        case "two at once":
            _ = dispatcher.jobsAnnounced(announce(9), now: moment)
            _ = dispatcher.jobsAnnounced(announce(9), now: moment)
        case "of no track": _ = dispatcher.jobsAnnounced(now: moment)
        case "of an unknown track": _ = dispatcher.jobsAnnounced(.job(AnnouncedJob(track: 2, id: 9)), now: moment)
        case "during a claim":
            _ = dispatcher.jobsAnnounced(announce(9), now: moment)
            guard let (number, _) = dispatcher.nextExchange(now: moment) else { break }
            _ = dispatcher.jobsAnnounced(announce(9), now: moment)
            guard let arrival = dispatcher.claimReturned(number) else { break }
            _ = dispatcher.claimRead(arrival, now: moment)
        case "beside a finish":
            _ = dispatcher.jobsAnnounced(announce(9), now: moment)
            answer(&dispatcher, [9])
            dispatcher.callEnded(slot: 0, CallOutcome(.response(HTTPResponse(status: 200))), now: moment)
            _ = dispatcher.jobsAnnounced(announce(9), now: moment)
        default:
            dispatcher.claims.surveyReturned([.init(track: 3, priority: 0, firstSeq: 5)], now: moment)
            _ = dispatcher.jobsAnnounced(announce(9), now: moment)
        }
        if news.hasPrefix("of") {
            // A claim of the known tracks would take jobs of a lower priority.
            let early = claim(&dispatcher)
            #expect(early == nil)
            #expect(dispatcher.deadline(now: moment) == moment + ClaimHold.longest)
            #expect(dispatcher.claims.schedule.surveyDue == moment + SurveyPace.quickInterval)
            _ = dispatcher.surveyBegins(now: moment + 10_000_000)
            dispatcher.claims.surveyReturned([], now: moment + 10_100_000)
        }
        let next = claim(&dispatcher, at: moment + 10_100_000)
        #expect(next != nil)
        #expect(next?.announced == nil)
        #expect(dispatcher.claims.schedule.wantsSurvey == !news.hasPrefix("of"))
    }

    @Test func `a worker sends a full claim after it lost the connection during a single claim`() {
        var dispatcher = dispatcher()
        _ = dispatcher.jobsAnnounced(announce(9), now: moment)
        let number = dispatcher.nextExchange(now: moment)?.number ?? 0
        dispatcher.connectionLost([number], now: moment)
        _ = dispatcher.beginEnlisting()
        _ = dispatcher.enlisted(2, held: [])
        let reserved = dispatcher.exchanges.reserved
        #expect(reserved == 0)
        let next = claim(&dispatcher)
        #expect(next?.announced == nil)
    }
}
