// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Engine

/// Questions about the ends of jobs. Times are nanoseconds; the tests count in milliseconds.
struct SpanQuestionsTests {
    private static let millisecond: UInt64 = 1_000_000

    /// When the job is asked for, in milliseconds, up to a limit.
    private func moments(_ questions: inout SpanQuestions, until limit: UInt64) -> [UInt64] {
        var moments: [UInt64] = []
        while let due = questions.due, due <= limit * Self.millisecond {
            if questions.next(now: due) != nil { moments.append(due / Self.millisecond) }
        }
        return moments
    }

    @Test func `a request is asked for five times within half a minute`() {
        var questions = SpanQuestions()
        _ = questions.ask(7, fence: 3, now: 0)
        let found1 = moments(&questions, until: 100_000)
        #expect(found1 == [100, 500, 2000, 8000, 30_000])
        #expect(questions.isEmpty)
    }

    @Test func `a batch is asked for up to an hour, and no more once it has ended`() {
        var questions = SpanQuestions()
        _ = questions.ask(7, fence: 0, now: 0)
        let found2 = moments(&questions, until: 100_000)
        #expect(found2 == [100, 500, 2000, 8000, 30_000, 60_000, 90_000])
        let found3 = moments(&questions, until: 10_000_000)
        #expect(found3.count == 118)
        #expect(questions.isEmpty)
        _ = questions.ask(8, fence: 0, now: 0)
        questions.ended(8, fence: 0)
        #expect(questions.due == nil)
    }

    @Test func `the next attempt asks anew, and an answer about the former one changes nothing`() {
        var questions = SpanQuestions()
        _ = questions.ask(7, fence: 3, now: 0)
        let found4 = questions.next(now: 200 * Self.millisecond)
        #expect(found4 != nil)
        _ = questions.ask(7, fence: 4, now: 300 * Self.millisecond)
        questions.ended(7, fence: 3)
        let next = questions.next(now: 500 * Self.millisecond)
        #expect(next?.jobs == [7])
        #expect(next?.fences == [4])
    }

    @Test func `a question has a thousand jobs at most, and the others follow`() {
        var questions = SpanQuestions()
        for job in 1...1500 { _ = questions.ask(Int64(job), fence: 1, now: 0) }
        let now = 100 * Self.millisecond
        let found5 = questions.next(now: now)
        #expect(found5?.jobs.count == 1000)
        let found6 = questions.next(now: now + 1)
        #expect(found6?.jobs.count == 500)
        let found7 = questions.next(now: now + 2)
        #expect(found7 == nil)
    }

    @Test func `a worker that ends asks for each job three times within some tenths of a second`() {
        var questions = SpanQuestions()
        _ = questions.ask(7, fence: 0, now: 0)
        questions.hurry(now: 5 * Self.millisecond)
        let found8 = moments(&questions, until: 100_000)
        #expect(found8 == [5, 105, 205])
        #expect(questions.isEmpty)
    }
}
