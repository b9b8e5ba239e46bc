// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

@testable import Engine

struct ScheduleTests {
    @Test func `a worker wakes only for duties that its role and its calls require`() {
        var schedule = Schedule()
        (schedule.beat, schedule.lead) = (30, 40)
        (schedule.aborts, schedule.queueDuties, schedule.progress) = (20, 10, 25)
        (schedule.watch, schedule.partition, schedule.tracks) = (50, 60, 70)
        #expect(schedule.earliest(leads: false, hasCalls: false, canRunQueueDuties: true) == 30)
        #expect(schedule.earliest(leads: false, hasCalls: true, canRunQueueDuties: true) == 20)
        #expect(schedule.earliest(leads: true, hasCalls: true, canRunQueueDuties: true) == 10)
        #expect(schedule.earliest(leads: true, hasCalls: true, canRunQueueDuties: false) == 20)
        schedule.beat = 90
        #expect(schedule.earliest(leads: false, hasCalls: false, canRunQueueDuties: true) == 40)
        schedule.queueDuties = 90
        (schedule.aborts, schedule.progress) = (90, 70)
        schedule.watch = 35
        #expect(schedule.earliest(leads: true, hasCalls: false, canRunQueueDuties: true) == 35)
        schedule.partition = 5
        #expect(schedule.earliest(leads: true, hasCalls: false, canRunQueueDuties: true) == 5)
        schedule.tracks = 3
        #expect(schedule.earliest(leads: true, hasCalls: false, canRunQueueDuties: true) == 3)
        #expect(schedule.earliest(leads: false, hasCalls: false, canRunQueueDuties: true) == 40)
    }

    @Test func `a worker sends a heartbeat every 3 s`() {
        #expect(Schedule.beatInterval == 3_000_000_000)
    }
}

struct PollScheduleTests {
    @Test func `the first survey is due at once`() {
        #expect(PollSchedule().surveyDue == 0)
    }

    @Test func `surveys run every 250 ms with free slots, every second without, 10 ms after notifications`() {
        var pollSchedule = PollSchedule()
        pollSchedule.surveyBegan(now: 1_000_000_000)
        pollSchedule.surveyReturned(now: 1_000_100_000)
        #expect(pollSchedule.surveyDue == 1_250_000_000)
        pollSchedule.hasRoom = false
        #expect(pollSchedule.surveyDue == 2_000_000_000)
        pollSchedule.wantsSurvey = true
        #expect(pollSchedule.surveyDue == 1_010_000_000)
    }

    @Test func `after a notification a claim precedes the survey, and later notifications do not delay it`() {
        var pollSchedule = PollSchedule()
        pollSchedule.claimGoesFirst(until: 3_000_000)
        #expect(pollSchedule.surveyDue == 0, "a worker that knows no track has nothing to claim")
        pollSchedule.surveyBegan(now: 0)
        pollSchedule.surveyReturned(now: 100_000)
        pollSchedule.claimGoesFirst(until: 103_000_000)
        pollSchedule.wantsSurvey = true
        #expect(pollSchedule.surveyDue == 103_000_000)
        pollSchedule.claimGoesFirst(until: 105_000_000)
        #expect(pollSchedule.surveyDue == 103_000_000)
    }

    private func holds(_ pollSchedule: inout PollSchedule, _ now: UInt64) -> Bool { pollSchedule.holdsClaim(now: now) }

    @Test func `a claim after an idle period waits once for a new survey, at most 100 ms`() {
        var pollSchedule = surveyed([1])
        let now: UInt64 = 10_100_000_000
        #expect(holds(&pollSchedule, now))
        #expect(pollSchedule.surveyDue <= now)
        pollSchedule.surveyBegan(now: now + 1)
        pollSchedule.surveyReturned(now: now + 1_000_000)
        #expect(holds(&pollSchedule, now + 1_000_000) == false)
        pollSchedule.claimBegan()
        pollSchedule.claimCaught(now: now + 2_000_000)
        #expect(holds(&pollSchedule, now + 21_999_999) == false)
        #expect(holds(&pollSchedule, now + 22_000_000))
        #expect(holds(&pollSchedule, now + 121_999_999))
        #expect(holds(&pollSchedule, now + 122_000_000) == false, "no survey came in time")
        pollSchedule.claimBegan()
        #expect(holds(&pollSchedule, now + 500_000_000) == false, "nor has it since")
        pollSchedule.surveyBegan(now: now + 500_000_000)
        pollSchedule.surveyReturned(now: now + 501_000_000)
        #expect(holds(&pollSchedule, now + 700_000_000))
    }

    @Test func `a claim does not wait for a survey before the survey interval has passed`() {
        var pollSchedule = surveyed([13, 13])
        #expect(holds(&pollSchedule, 10_200_000_000) == false)
        #expect(holds(&pollSchedule, 10_250_000_000))
    }

    @Test func `a claim waits for a slow survey only after ten times its duration without a job`() {
        var pollSchedule = surveyed([50, 50])
        pollSchedule.claimCaught(now: 11_000_000_000)
        #expect(holds(&pollSchedule, 11_499_999_999) == false)
        #expect(holds(&pollSchedule, 11_500_000_000))
    }

    @Test func `a survey that began earlier does not end the wait for a new track`() {
        var pollSchedule = surveyed([0])
        let now: UInt64 = 10_100_000_000
        pollSchedule.surveyBegan(now: now)
        pollSchedule.trackIsAwaited(now: now + 100_000)
        pollSchedule.surveyReturned(now: now + 200_000)
        #expect(holds(&pollSchedule, now + 200_000))
        // Announced by other jobs of the same transaction.
        pollSchedule.mayLookAtOnce()
        #expect(pollSchedule.surveyDue == pollSchedule.heldUntil, "before the track is made it would see nothing")
        pollSchedule.trackWasMade()
        #expect(pollSchedule.surveyDue == now + SurveyPace.quickInterval)
        pollSchedule.surveyBegan(now: now + SurveyPace.quickInterval)
        pollSchedule.surveyReturned(now: now + SurveyPace.quickInterval + 1)
        #expect(holds(&pollSchedule, now + SurveyPace.quickInterval + 1) == false)
    }

    @Test func `a claim waits at most 100 ms for a new track, also during slow surveys`() {
        var pollSchedule = surveyed([13, 13])
        pollSchedule.trackIsAwaited(now: 10_200_000_000)
        #expect(holds(&pollSchedule, 10_299_999_999))
        #expect(holds(&pollSchedule, 10_300_000_000) == false)
        pollSchedule = surveyed([0])
        #expect(holds(&pollSchedule, 10_100_000_000))
        pollSchedule.surveyBegan(now: 10_100_000_000)
        pollSchedule.trackIsAwaited(now: 10_100_100_000)
        pollSchedule.surveyReturned(now: 10_100_200_000)
        #expect(holds(&pollSchedule, 10_199_999_999))
        #expect(holds(&pollSchedule, 10_200_000_000) == false)
    }

    /// The intervals of a worker's second and third survey. Each survey takes so many milliseconds, and the last begins
    /// at 10 s.
    private func surveyed(_ milliseconds: [UInt64]) -> PollSchedule {
        var pollSchedule = PollSchedule()
        pollSchedule.surveyBegan(now: 0)
        pollSchedule.surveyReturned(now: 900_000_000)
        for (place, took) in milliseconds.enumerated() {
            let began = 10_000_000_000 - UInt64(milliseconds.count - 1 - place) * 2_000_000_000
            pollSchedule.surveyBegan(now: began)
            pollSchedule.surveyReturned(now: began + took * 1_000_000)
        }
        return pollSchedule
    }

    @Test func `a slow first survey does not lengthen the interval to the next survey`() {
        var pollSchedule = surveyed([])
        #expect(pollSchedule.surveyDue == 250_000_000)
        pollSchedule.wantsSurvey = true
        #expect(pollSchedule.surveyDue == 10_000_000)
    }

    @Test func `surveys take at most 2% of the time, 5% after notifications or within a round`() {
        #expect(surveyed([5, 5]).surveyDue == 10_250_000_000)
        var pollSchedule = surveyed([40, 40])
        #expect(pollSchedule.surveyDue == 12_000_000_000)
        pollSchedule.wantsSurvey = true
        #expect(pollSchedule.surveyDue == 10_800_000_000)
        pollSchedule.hasRoom = false
        #expect(pollSchedule.surveyDue == 12_000_000_000)
        pollSchedule.surveyBegan(now: 12_000_000_000)
        pollSchedule.surveyReturned(now: 12_040_000_000, hasMore: true)
        #expect(pollSchedule.surveyDue == 12_800_000_000)
        #expect(surveyed([2000]).surveyDue == 15_000_000_000)
    }

    @Test func `all slices are read within one interval if that takes at most 2% of the time`() {
        var pollSchedule = surveyed([1, 1])
        func due(slices: Int, hasRoom: Bool) -> UInt64 {
            pollSchedule.surveyReturned(now: 10_001_000_000, slices: slices)
            pollSchedule.hasRoom = hasRoom
            return (pollSchedule.surveyDue - 10_000_000_000) / 1_000_000
        }
        #expect(due(slices: 1, hasRoom: true) == 250)
        #expect(due(slices: 2, hasRoom: true) == 125)
        #expect(due(slices: 20, hasRoom: true) == 50)
        #expect(due(slices: 2, hasRoom: false) == 500)
    }

    @Test func `a single slow survey does not lengthen the pause between surveys`() {
        #expect(surveyed([5, 900]).surveyDue == 10_250_000_000)
        #expect(surveyed([900, 5]).surveyDue == 10_250_000_000)
    }
}
