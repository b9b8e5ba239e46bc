// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

@testable import Engine

struct ScheduleTests {
    @Test func `only what concerns the worker wakes it`() {
        var schedule = Schedule()
        (schedule.beat, schedule.lead) = (30, 40)
        (schedule.aborts, schedule.tend, schedule.progress) = (20, 10, 25)
        (schedule.watch, schedule.partition) = (50, 60)
        #expect(schedule.earliest(leads: false, hasCalls: false) == 30)
        #expect(schedule.earliest(leads: false, hasCalls: true) == 20)
        #expect(schedule.earliest(leads: true, hasCalls: true) == 10)
        schedule.beat = 90
        #expect(schedule.earliest(leads: false, hasCalls: false) == 40)
        schedule.tend = 90
        (schedule.aborts, schedule.progress) = (90, 70)
        schedule.watch = 35
        #expect(schedule.earliest(leads: true, hasCalls: false) == 35)
        schedule.partition = 5
        #expect(schedule.earliest(leads: true, hasCalls: false) == 5)
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

    @Test func `surveys rest five seconds at most, whatever they wait for in line`() {
        var lookout = Lookout()
        lookout.surveyBegan(now: 1_000_000_000)
        lookout.surveyReturned(now: 2_500_000_000)
        #expect(lookout.surveyDue == 6_000_000_000)
    }

    @Test func `surveys take 2 % of the time at most, news or not`() {
        var lookout = Lookout()
        lookout.surveyBegan(now: 1_000_000_000)
        lookout.surveyReturned(now: 1_040_000_000)
        #expect(lookout.surveyDue == 3_000_000_000)
        lookout.wantsSurvey = true
        #expect(lookout.surveyDue == 3_000_000_000)
    }
}
