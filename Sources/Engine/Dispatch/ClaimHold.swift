// SPDX-License-Identifier: Apache-2.0

/// When a claim of all tracks is held back for a survey, or for a track that is being made and then a survey. Monotonic
/// nanoseconds.
///
/// Jobs of a higher priority may have come to a track that is not known here, and the claim would take those below for
/// as long as their calls last.
struct ClaimHold {
    /// Only if no claim has brought a job for this long. Where claims bring jobs more often they take fewer at once,
    /// and the surveys beside them tell soon enough.
    static let longSilence: UInt64 = 20_000_000
    /// Nor if it has been less than so many times what a survey takes.
    static let rest: UInt64 = 10
    /// And for no longer than this: a duty may be in the survey's way.
    static let longest: UInt64 = 100_000_000

    /// Until then claims of all tracks are held back.
    private(set) var until: UInt64 = 0
    /// When the last hold began.
    private(set) var since: UInt64 = 0
    /// A track is being made: a survey before that tells nothing of it.
    private(set) var awaitsTrack = false
    /// No survey has come for the last claim that was held back: none is held back for the next.
    private var isUnanswered = false
    /// The next claim waits for no survey: it has done so, comes of one, or is for jobs on known tracks.
    private var goesAtOnce = false
    /// When a claim last brought a job.
    private var caught: UInt64 = 0

    /// Whether a hold may begin now.
    func mayBegin(surveyCost: UInt64, now: UInt64) -> Bool {
        !goesAtOnce && !isUnanswered && now >= caught + max(ClaimHold.longSilence, ClaimHold.rest * surveyCost)
    }

    mutating func begin(now: UInt64) {
        goesAtOnce = true
        isUnanswered = true
        since = now
        until = now + ClaimHold.longest
        awaitsTrack = false
    }

    /// Only a survey from now on will do; a hold under way gets no longer by it.
    mutating func awaitTrack(now: UInt64) {
        since = now
        awaitsTrack = true
    }

    /// The track is there: a survey sees it.
    mutating func trackWasMade() { awaitsTrack = false }

    /// The answer of a survey is there; one that went out before the hold does not end it.
    mutating func surveyReturned(began: UInt64, now: UInt64) {
        guard began >= since else { return }
        isUnanswered = false
        awaitsTrack = false
        until = min(until, now)
    }

    /// The next claim is for what is known: it waits for no survey.
    mutating func claimIsInformed() { goesAtOnce = true }

    /// A claim of all tracks goes out.
    mutating func claimBegan() { goesAtOnce = false }

    /// A claim has brought jobs.
    mutating func claimCaught(now: UInt64) { caught = now }
}
