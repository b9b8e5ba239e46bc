// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Decides when a worker polls its known tracks and surveys all tracks. Times are monotonic nanoseconds.
struct PollSchedule {
    /// The pause after a claim of a single job that brought no job: 1 s.
    static let singleRest: UInt64 = 1_000_000_000

    /// When to look next for jobs that no notification has announced.
    var poll: UInt64 = 0
    /// Whether an event has made a survey worthwhile.
    var wantsSurvey = true
    /// Whether the last claim brought fewer jobs than it asked for. Then a job in an unknown track could run at once,
    /// so surveys go at the pace of the fallback.
    var hasRoom = true
    /// The interval of surveys while slots are free and no event makes one worthwhile.
    var fallback = PickupMode.fallbackInterval
    /// No claim of a single job is sent before this moment, because the last one brought no job.
    private(set) var singleDue: UInt64 = 0
    /// No survey is sent before this moment.
    private var earliestSurvey: UInt64 = 0
    private(set) var surveys = SurveyPace()
    private var hold = ClaimHold()

    /// Claims of all tracks are held back until this moment.
    var heldUntil: UInt64 { hold.until }

    /// When the next survey may be sent.
    var surveyDue: UInt64 {
        guard let began = surveys.began else { return 0 }
        // A claim waits for a survey that begins after the last one.
        let isAwaited = hold.since > began && hold.until > hold.since
        let due =
            isAwaited
            ? began + SurveyPace.quickInterval
            : surveys.due(isWanted: wantsSurvey, hasRoom: hasRoom, fallback: fallback)
        return max(due, earliestSurvey)
    }

    /// Lets a claim of announced jobs in a known track go before a survey. On two cores a concurrent survey would delay
    /// the claim. A survey that is wanted already is not delayed further.
    mutating func claimGoesFirst(until moment: UInt64) {
        if !wantsSurvey { earliestSurvey = moment }
    }

    /// Whether a claim of all tracks waits for a survey. If so, a survey is wanted.
    mutating func holdsClaim(now: UInt64) -> Bool {
        if now < hold.until { return true }
        guard hold.mayBegin(surveyCost: surveys.cost, now: now), surveys.isKnown, surveys.allowsOne(now: now) else {
            return false
        }
        hold.begin(now: now)
        mayLookAtOnce()
        return true
    }

    /// Records a notification about jobs that wait for a new track. The leader creates it at once and notifies again. A
    /// survey before that would not see the jobs.
    mutating func trackIsAwaited(now: UInt64) {
        if now >= hold.until {
            guard hold.mayBegin(surveyCost: surveys.cost, now: now) else { return }
            hold.begin(now: now)
        }
        hold.awaitTrack(now: now)
        earliestSurvey = hold.until
    }

    /// Records that the leader has created the tracks.
    mutating func trackWasMade() {
        hold.trackWasMade()
        mayLookAtOnce()
    }

    /// Lets the next survey go at once, after a notification about new jobs.
    ///
    /// If a track is being created, the survey waits until it exists. The same transaction may also notify about jobs
    /// on known tracks, and those notifications must not end the wait.
    mutating func mayLookAtOnce() {
        wantsSurvey = true
        earliestSurvey = hold.awaitsTrack ? hold.until : 0
    }

    /// Records that the next claim is for known tracks. It does not wait for a survey.
    mutating func claimIsInformed() { hold.claimIsInformed() }

    /// Records that a claim of all tracks is sent.
    mutating func claimBegan() { hold.claimBegan() }

    /// Records that a claim has brought jobs.
    mutating func claimCaught(now: UInt64) { hold.claimCaught(now: now) }

    /// Records that a claim of a single job brought no job.
    ///
    /// Another worker was faster, the job needs a full claim, or a limit, pause or hook may hold it back. Further such
    /// claims would only delay the claims of all tracks, so they pause for 1 s.
    mutating func singleClaimFailed(now: UInt64) {
        singleDue = now + PollSchedule.singleRest
        claimIsInformed()
    }

    /// Records that a survey is sent.
    mutating func surveyBegan(now: UInt64) {
        surveys.sent(now: now)
        wantsSurvey = false
    }

    /// Records the answer of a survey.
    ///
    /// - Parameters:
    ///   - hasMore: whether the next survey must read what this one has left out.
    ///   - slices: into how many slices the rows of busy tracks are divided.
    mutating func surveyReturned(now: UInt64, hasMore: Bool = false, slices: Int = 1) {
        if let began = surveys.began { hold.surveyReturned(began: began, now: now) }
        surveys.returned(now: now, hasMore: hasMore, slices: slices)
    }
}
