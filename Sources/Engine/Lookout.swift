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

    /// If no claim has brought a job for this long, the next one is held back for a survey: jobs of a higher priority may have come
    /// to a track that is not known here, and the claim would take those below for as long as their calls last. Where claims bring
    /// jobs more often they take fewer at once, and the surveys beside them tell soon enough.
    static let longSilence: UInt64 = 20_000_000
    /// Nor if it has been less than so many times what a survey takes, or if surveys would take more than their part of the time.
    static let heldRest: UInt64 = 10
    /// And for no longer than this: a duty may be in the survey's way.
    static let longestHold: UInt64 = 100_000_000

    /// The next look for jobs that nobody announced.
    var poll: UInt64 = 0
    /// Whether something has happened that a survey might tell more of.
    var wantsSurvey = true
    /// Whether the last claim brought less than it asked for: then a job in a track that is not known here could
    /// run at once, and is looked for at the pace of the fallback.
    var hasRoom = true
    /// No claim of a single job before: the last one brought none.
    private(set) var singleDue: UInt64 = 0
    /// Until then claims of all tracks are held back.
    private(set) var heldUntil: UInt64 = 0
    private var heldSince: UInt64 = 0
    /// No survey has come for the last claim that was held back: none is held back for the next.
    private var isUnanswered = false
    /// The next claim waits for no survey: it has done so, comes of one, or is for jobs on known tracks.
    private var goesAtOnce = false
    /// When a claim last brought a job.
    private var caught: UInt64 = 0
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
        if heldSince > began, heldUntil > heldSince { return max(began + Lookout.quickSurveyInterval, patience) }
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

    /// Whether a claim of all tracks is to wait for a survey, which is wanted then.
    mutating func holdsClaim(now: UInt64) -> Bool {
        if now < heldUntil { return true }
        guard mayHold(now: now), began != nil, !isFirst else { return false }
        hold(now: now)
        mayLookAtOnce()
        return true
    }

    /// News of jobs that wait for their track, which the leader makes at once and tells of. A survey before that would not see them.
    mutating func trackIsMade(now: UInt64) {
        guard mayHold(now: now) else { return }
        hold(now: now)
        patience = heldUntil
    }

    /// News of jobs, wherever they are: the survey need not wait for a claim.
    mutating func mayLookAtOnce() {
        wantsSurvey = true
        patience = 0
    }

    private func mayHold(now: UInt64) -> Bool {
        !goesAtOnce && !isUnanswered && now >= caught + max(Lookout.longSilence, Lookout.heldRest * cost)
            && now + Lookout.quickSurveyInterval >= (began ?? 0) + Lookout.newsRest * cost
    }

    private mutating func hold(now: UInt64) {
        goesAtOnce = true
        isUnanswered = true
        heldSince = now
        heldUntil = now + Lookout.longestHold
    }

    /// The next claim is for what is known: it waits for no survey.
    mutating func claimIsInformed() { goesAtOnce = true }

    /// A claim of all tracks goes out.
    mutating func claimBegan() { goesAtOnce = false }

    /// A claim has brought jobs.
    mutating func claimCaught(now: UInt64) { caught = now }

    /// A claim of a single job brought none: another worker was faster, the job is none for such a claim, or a limit, pause or
    /// hook may hold it back. While that lasts, the attempts would only be on the way of the claims that follow.
    mutating func singleClaimFailed(now: UInt64) {
        singleDue = now + Lookout.singleRest
        claimIsInformed()
    }

    /// A survey goes out.
    mutating func surveyBegan(now: UInt64) {
        wantsSurvey = false
        began = now
    }

    /// Its answer is there.
    mutating func surveyReturned(now: UInt64) {
        defer { isFirst = false }
        if let began, began >= heldSince {
            isUnanswered = false
            heldUntil = min(heldUntil, now)
        }
        guard !isFirst, let began else { return }
        cost = min(now - began, took ?? .max)
        took = now - began
    }
}
