// SPDX-License-Identifier: Apache-2.0

/// When a worker looks for jobs by itself: polls of the tracks it knows, surveys of all. Monotonic nanoseconds.
struct PollSchedule {
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
    /// No survey before.
    private var earliestSurvey: UInt64 = 0
    private var surveys = SurveyPace()
    private var hold = ClaimHold()

    /// Until then claims of all tracks are held back.
    var heldUntil: UInt64 { hold.until }

    /// When the next survey may go out.
    var surveyDue: UInt64 {
        guard let began = surveys.began else { return 0 }
        let isAwaited = hold.since > began && hold.until > hold.since
        let pause =
            isAwaited ? SurveyPace.quickInterval : surveys.pause(isWanted: wantsSurvey, hasRoom: hasRoom)
        return max(began + pause, earliestSurvey)
    }

    /// Jobs are announced: on a track that is known a claim finds them, and a survey beside it on two cores makes it
    /// wait. One that is wanted already is put off no further.
    mutating func claimGoesFirst(until moment: UInt64) {
        if !wantsSurvey { earliestSurvey = moment }
    }

    /// Whether a claim of all tracks is to wait for a survey, which is wanted then.
    mutating func holdsClaim(now: UInt64) -> Bool {
        if now < hold.until { return true }
        guard hold.mayBegin(surveyCost: surveys.cost, now: now), surveys.isKnown, surveys.allowsOne(now: now) else {
            return false
        }
        hold.begin(now: now)
        mayLookAtOnce()
        return true
    }

    /// News of jobs that wait for their track, which the leader makes at once and tells of. A survey before that would
    /// not see them.
    mutating func trackIsAwaited(now: UInt64) {
        if now >= hold.until {
            guard hold.mayBegin(surveyCost: surveys.cost, now: now) else { return }
            hold.begin(now: now)
        }
        hold.awaitTrack(now: now)
        earliestSurvey = hold.until
    }

    /// The leader has made the tracks that jobs waited for.
    mutating func trackWasMade() {
        hold.trackWasMade()
        mayLookAtOnce()
    }

    /// News of jobs, wherever they are: the survey need not wait for a claim, but for a track that is being made, of
    /// which news of the same transaction tell.
    mutating func mayLookAtOnce() {
        wantsSurvey = true
        earliestSurvey = hold.awaitsTrack ? hold.until : 0
    }

    /// The next claim is for what is known: it waits for no survey.
    mutating func claimIsInformed() { hold.claimIsInformed() }

    /// A claim of all tracks goes out.
    mutating func claimBegan() { hold.claimBegan() }

    /// A claim has brought jobs.
    mutating func claimCaught(now: UInt64) { hold.claimCaught(now: now) }

    /// A claim of a single job brought none: another worker was faster, the job is none for such a claim, or a limit,
    /// pause or hook may hold it back. While that lasts, the attempts would only be on the way of the claims that
    /// follow.
    mutating func singleClaimFailed(now: UInt64) {
        singleDue = now + PollSchedule.singleRest
        claimIsInformed()
    }

    /// A survey goes out.
    mutating func surveyBegan(now: UInt64) {
        wantsSurvey = false
        surveys.begin(now: now)
    }

    /// Its answer is there.
    mutating func surveyReturned(now: UInt64, isWhole: Bool = true) {
        if let began = surveys.began { hold.surveyReturned(began: began, now: now) }
        surveys.returned(now: now, isWhole: isWhole)
    }
}
