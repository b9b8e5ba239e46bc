// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

@testable import Engine

struct ScheduleTests {
    @Test func `only what concerns the worker wakes it`() {
        var schedule = Schedule()
        (schedule.beat, schedule.lead) = (30, 40)
        (schedule.aborts, schedule.tend, schedule.progress) = (20, 10, 25)
        (schedule.watch, schedule.partition, schedule.tracks) = (50, 60, 70)
        #expect(schedule.earliest(leads: false, hasCalls: false, canTend: true) == 30)
        #expect(schedule.earliest(leads: false, hasCalls: true, canTend: true) == 20)
        #expect(schedule.earliest(leads: true, hasCalls: true, canTend: true) == 10)
        #expect(schedule.earliest(leads: true, hasCalls: true, canTend: false) == 20)
        schedule.beat = 90
        #expect(schedule.earliest(leads: false, hasCalls: false, canTend: true) == 40)
        schedule.tend = 90
        (schedule.aborts, schedule.progress) = (90, 70)
        schedule.watch = 35
        #expect(schedule.earliest(leads: true, hasCalls: false, canTend: true) == 35)
        schedule.partition = 5
        #expect(schedule.earliest(leads: true, hasCalls: false, canTend: true) == 5)
        schedule.tracks = 3
        #expect(schedule.earliest(leads: true, hasCalls: false, canTend: true) == 3)
        #expect(schedule.earliest(leads: false, hasCalls: false, canTend: true) == 40)
    }

    @Test func `a worker that is silent for 10 s is lost, so three beats may be late`() {
        #expect(Schedule.beatInterval == 3_000_000_000)
    }
}

struct LookoutTests {
    @Test func `the first survey is due at once`() {
        #expect(Lookout().surveyDue == 0)
    }

    @Test func `surveys come every 250 ms with room for jobs, every second without, 10 ms after news`() {
        var lookout = Lookout()
        lookout.surveyBegan(now: 1_000_000_000)
        lookout.surveyReturned(now: 1_000_100_000)
        #expect(lookout.surveyDue == 1_250_000_000)
        lookout.hasRoom = false
        #expect(lookout.surveyDue == 2_000_000_000)
        lookout.wantsSurvey = true
        #expect(lookout.surveyDue == 1_010_000_000)
    }

    @Test func `after news a claim goes first, and further news put the survey off no further`() {
        var lookout = Lookout()
        lookout.claimGoesFirst(until: 3_000_000)
        #expect(lookout.surveyDue == 0, "a worker that knows no track has nothing to claim")
        lookout.surveyBegan(now: 0)
        lookout.surveyReturned(now: 100_000)
        lookout.claimGoesFirst(until: 103_000_000)
        lookout.wantsSurvey = true
        #expect(lookout.surveyDue == 103_000_000)
        lookout.claimGoesFirst(until: 105_000_000)
        #expect(lookout.surveyDue == 103_000_000)
    }

    private func holds(_ lookout: inout Lookout, _ now: UInt64) -> Bool { lookout.holdsClaim(now: now) }

    @Test func `a claim after a silence waits for a survey that begins after it, once, and not for ever`() {
        var lookout = surveyed([1])
        let now: UInt64 = 10_100_000_000
        #expect(holds(&lookout, now))
        #expect(lookout.surveyDue <= now)
        lookout.surveyBegan(now: now + 1)
        lookout.surveyReturned(now: now + 1_000_000)
        #expect(holds(&lookout, now + 1_000_000) == false)
        lookout.claimBegan()
        lookout.claimCaught(now: now + 2_000_000)
        #expect(holds(&lookout, now + 21_999_999) == false)
        #expect(holds(&lookout, now + 22_000_000))
        #expect(holds(&lookout, now + 121_999_999))
        #expect(holds(&lookout, now + 122_000_000) == false, "no survey came in time")
        lookout.claimBegan()
        #expect(holds(&lookout, now + 500_000_000) == false, "nor has it since")
        lookout.surveyBegan(now: now + 500_000_000)
        lookout.surveyReturned(now: now + 501_000_000)
        #expect(holds(&lookout, now + 700_000_000))
    }

    @Test func `surveys that claims wait for take no more of the time than others, though no claim brings a job`() {
        var lookout = surveyed([13, 13])
        #expect(holds(&lookout, 10_200_000_000) == false)
        #expect(holds(&lookout, 10_250_000_000))
    }

    @Test func `a slow survey is waited for only after ten times its time without a job`() {
        var lookout = surveyed([50, 50])
        lookout.claimCaught(now: 11_000_000_000)
        #expect(holds(&lookout, 11_499_999_999) == false)
        #expect(holds(&lookout, 11_500_000_000))
    }

    @Test func `a survey that was under way when a track had to be made ends no wait for it`() {
        var lookout = surveyed([0])
        let now: UInt64 = 10_100_000_000
        lookout.surveyBegan(now: now)
        lookout.trackIsAwaited(now: now + 100_000)
        lookout.surveyReturned(now: now + 200_000)
        #expect(holds(&lookout, now + 200_000))
        // Of other jobs of the same transaction.
        lookout.mayLookAtOnce()
        #expect(lookout.surveyDue == lookout.heldUntil, "before the track is made it would see nothing")
        lookout.trackWasMade()
        #expect(lookout.surveyDue == now + SurveyPace.quickInterval)
        lookout.surveyBegan(now: now + SurveyPace.quickInterval)
        lookout.surveyReturned(now: now + SurveyPace.quickInterval + 1)
        #expect(holds(&lookout, now + SurveyPace.quickInterval + 1) == false)
    }

    @Test func `a track that has to be made is waited for beside slow surveys, and during the wait for one, no longer`()
    {
        var lookout = surveyed([13, 13])
        lookout.trackIsAwaited(now: 10_200_000_000)
        #expect(holds(&lookout, 10_299_999_999))
        #expect(holds(&lookout, 10_300_000_000) == false)
        lookout = surveyed([0])
        #expect(holds(&lookout, 10_100_000_000))
        lookout.surveyBegan(now: 10_100_000_000)
        lookout.trackIsAwaited(now: 10_100_100_000)
        lookout.surveyReturned(now: 10_100_200_000)
        #expect(holds(&lookout, 10_199_999_999))
        #expect(holds(&lookout, 10_200_000_000) == false)
    }

    /// A worker's second and third survey of so many milliseconds; the last one begins at 10 s.
    private func surveyed(_ milliseconds: [UInt64]) -> Lookout {
        var lookout = Lookout()
        lookout.surveyBegan(now: 0)
        lookout.surveyReturned(now: 900_000_000)
        for (place, took) in milliseconds.enumerated() {
            let began = 10_000_000_000 - UInt64(milliseconds.count - 1 - place) * 2_000_000_000
            lookout.surveyBegan(now: began)
            lookout.surveyReturned(now: began + took * 1_000_000)
        }
        return lookout
    }

    @Test func `the first survey of a worker makes its plan, and is not rested for`() {
        var lookout = surveyed([])
        #expect(lookout.surveyDue == 250_000_000)
        lookout.wantsSurvey = true
        #expect(lookout.surveyDue == 10_000_000)
    }

    @Test func `surveys rest five seconds at most, whatever they wait for in line`() {
        #expect(surveyed([1500, 1500]).surveyDue == 15_000_000_000)
    }

    @Test func `surveys take 2 % of the time at most, 5 % after news while there is room`() {
        var lookout = surveyed([40, 40])
        #expect(lookout.surveyDue == 12_000_000_000)
        lookout.wantsSurvey = true
        #expect(lookout.surveyDue == 10_800_000_000)
        lookout.hasRoom = false
        #expect(lookout.surveyDue == 12_000_000_000)
    }

    @Test func `one survey that had to wait does not stretch the rest`() {
        #expect(surveyed([5, 900]).surveyDue == 10_250_000_000)
        #expect(surveyed([900, 5]).surveyDue == 10_250_000_000)
    }
}
