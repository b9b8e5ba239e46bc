// SPDX-License-Identifier: Apache-2.0

internal import JobModel

// Decides when to look for jobs that no notification has announced.
extension Dispatcher {
    /// Looks for unannounced jobs when the poll interval is over.
    mutating func poll(now: UInt64) -> PickupMode.Change {
        guard lifecycle.takesJobs, slots.freeCount > 0, now >= pollSchedule.poll else { return .none }
        pollSchedule.poll = now + pickup.interval
        guard exchanges.isEmpty else { return .none }
        widenClaimScope()
        // Announced jobs cause a claim already. This poll is for all others, so its claim needs no survey.
        if pickup.isListening { pollSchedule.claimIsInformed() }
        guard !knownTracks.canVisit else { return .none }
        // Without a track to claim from, no claim can come back empty. So the poll counts as an empty claim.
        let change = pickup.claimReturned(rows: 0, limit: 1)
        pollSchedule.poll = now + pickup.interval
        return change
    }

    /// Whether to send a survey now. True counts it as sent.
    mutating func surveyBegins(now: UInt64) -> Bool {
        guard !isDraining, slots.freeCount > 0, now >= pollSchedule.surveyDue else { return false }
        pollSchedule.surveyBegan(now: now)
        return true
    }

    /// When to look for jobs again if nothing happens before. Nil while all slots are taken.
    func nextLook(canSurvey: Bool) -> UInt64? {
        guard lifecycle.takesJobs, slots.freeCount > 0 else { return nil }
        return canSurvey ? min(pollSchedule.poll, pollSchedule.surveyDue) : pollSchedule.poll
    }

    /// Records that batches or chains have settled an ended member. Their next members may be ready.
    mutating func treesChanged() { widenClaimScope() }

    /// Records that INSERTs notify this worker from now on. A job may have arrived between the last look and this
    /// moment, perhaps in an unknown track.
    mutating func listeningBegan() {
        widenClaimScope()
        pollSchedule.wantsSurvey = true
    }
}
