// SPDX-License-Identifier: Apache-2.0

/// Decides when a claim of all tracks waits for a survey. Times are monotonic nanoseconds.
///
/// Jobs of a higher priority may stand in a track that this worker does not know. A claim without a survey would fill
/// the slots with jobs of a lower priority for as long as their calls last.
struct ClaimHold {
    /// A hold begins only if no claim has brought a job for 20 ms. If claims bring jobs more often, each takes fewer
    /// jobs, and the surveys between them find new tracks soon enough.
    static let longSilence: UInt64 = 20_000_000
    /// A hold begins only if no claim has brought a job for ten times the duration of a survey.
    static let rest: UInt64 = 10
    /// A hold lasts at most 100 ms: the survey may have to wait for a duty on the same session.
    static let longest: UInt64 = 100_000_000

    /// Claims of all tracks are held back until this moment.
    private(set) var until: UInt64 = 0
    /// When the last hold began.
    private(set) var since: UInt64 = 0
    /// Whether another session creates a track right now. A survey before its commit does not see it.
    private(set) var awaitsTrack = false
    /// True if no survey has answered the last hold. Then the next claim is not held back.
    private var isUnanswered = false
    /// True if the next claim does not wait for a survey: it has waited, it follows a survey, or it is for known
    /// tracks.
    private var goesAtOnce = false
    /// When a claim last brought a job.
    private var caught: UInt64 = 0

    /// Whether a hold may begin now. `surveyCost` is the duration of a survey.
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

    /// Demands a survey that begins from now on. The hold under way does not become longer.
    mutating func awaitTrack(now: UInt64) {
        since = now
        awaitsTrack = true
    }

    /// Records that the track exists, so that a survey can find it.
    mutating func trackWasMade() { awaitsTrack = false }

    /// Records the answer of a survey. A survey that began before the hold does not end it.
    mutating func surveyReturned(began: UInt64, now: UInt64) {
        guard began >= since else { return }
        isUnanswered = false
        awaitsTrack = false
        until = min(until, now)
    }

    /// Records that the next claim is for known tracks. It does not wait for a survey.
    mutating func claimIsInformed() { goesAtOnce = true }

    /// Records that a claim of all tracks is sent.
    mutating func claimBegan() { goesAtOnce = false }

    /// Records that a claim has brought jobs.
    mutating func claimCaught(now: UInt64) { caught = now }
}
