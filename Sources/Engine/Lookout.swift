// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// When a worker looks for jobs by itself: polls of the tracks it knows, surveys of all. Monotonic nanoseconds.
struct Lookout {
    /// Between surveys while the worker has all that it can do.
    static let surveyInterval: UInt64 = 1_000_000_000
    /// News of jobs may cause a survey this soon after the last one.
    static let quickSurveyInterval: UInt64 = 10_000_000
    /// A survey may take one part in so many of the time,
    static let surveyRest: UInt64 = 50
    /// or this part after news while there is room: then nothing but the survey is between a job on a new track and its call.
    static let newsRest: UInt64 = 20
    /// But it never rests longer than this: what it waited for in line counts as its cost, too, and jobs of a lane that this
    /// worker has not heard of wait for it.
    static let longestRest: UInt64 = 5_000_000_000

    /// After a claim of a single job that brought none.
    static let singleRest: UInt64 = 1_000_000_000

    /// The next look for jobs that nobody announced.
    var poll: UInt64 = 0
    /// Whether something has happened that a survey might tell more of.
    var wantsSurvey = true
    /// Whether the last claim brought less than it asked for: then a job in a track that is not known here could
    /// run at once, and is looked for at the pace of the fallback.
    var hasRoom = true
    /// No claim of a single job before: the last one brought none.
    private(set) var singleDue: UInt64 = 0
    private var began: UInt64?
    /// No survey before.
    private var patience: UInt64 = 0
    /// How long the last survey took, its way included. Nil before the first one and after it: that one waits for its plan to be made,
    /// tens of milliseconds.
    private var took: UInt64?
    private var isFirst = true
    /// What counts: the shorter of the last two. One that waited for a slow duty says nothing of surveys.
    private var cost: UInt64 = 0

    /// When the next survey may go out: not so often that surveys cost more than 2 % of the time, 5 % after news, within bounds.
    var surveyDue: UInt64 {
        guard let began else { return 0 }
        let interval = hasRoom ? PickupMode.fallbackInterval : Lookout.surveyInterval
        let share = wantsSurvey && hasRoom ? Lookout.newsRest : Lookout.surveyRest
        let pause = max(wantsSurvey ? Lookout.quickSurveyInterval : interval, min(share * cost, Lookout.longestRest))
        return max(began + pause, patience)
    }

    /// Jobs are announced: on a track that is known a claim finds them, and a survey beside it on two cores makes it wait. One
    /// that is wanted already is put off no further.
    mutating func claimGoesFirst(until moment: UInt64) {
        if !wantsSurvey { patience = moment }
    }

    /// A claim of a single job brought none: another worker was faster, the job is none for such a claim, or a limit, pause or
    /// hook may hold it back. While that lasts, the attempts would only be on the way of the claims that follow.
    mutating func singleClaimFailed(now: UInt64) {
        singleDue = now + Lookout.singleRest
    }

    /// A survey goes out.
    mutating func surveyBegan(now: UInt64) {
        wantsSurvey = false
        began = now
    }

    /// Its answer is there.
    mutating func surveyReturned(now: UInt64) {
        defer { isFirst = false }
        guard !isFirst, let began else { return }
        cost = min(now - began, took ?? .max)
        took = now - began
    }
}
