// SPDX-License-Identifier: Apache-2.0

internal import JobModel

// When to look for jobs that nobody announced.
extension Dispatcher {
    /// Asks again for jobs that nobody announced, when it is time to.
    mutating func poll(now: UInt64) -> PickupMode.Change {
        guard worker > 0, takesJobs, slots.freeCount > 0, now >= pollSchedule.poll else { return .none }
        pollSchedule.poll = now + pickup.interval
        guard exchanges.isEmpty else { return .none }
        look()
        // What others announce goes its own way; this looks for what they do not.
        if pickup.isListening { pollSchedule.claimIsInformed() }
        guard !knownTracks.hasPlaces else { return .none }
        // With no track to claim from there is no claim that could come back empty.
        let change = pickup.claimReturned(rows: 0, limit: 1)
        pollSchedule.poll = now + pickup.interval
        return change
    }

    /// Whether a survey is to be sent now; it counts as begun.
    mutating func surveyBegins(now: UInt64) -> Bool {
        guard !isDraining, slots.freeCount > 0, now >= pollSchedule.surveyDue else { return false }
        pollSchedule.surveyBegan(now: now)
        return true
    }

    /// When to look for jobs again if nothing happens before; never while all slots are taken.
    func nextLook(canSurvey: Bool) -> UInt64? {
        guard worker > 0, takesJobs, slots.freeCount > 0 else { return nil }
        return canSurvey ? min(pollSchedule.poll, pollSchedule.surveyDue) : pollSchedule.poll
    }

    /// Batches or chains have heard of an end: their next members may be ready.
    mutating func treesTold() { look() }

    /// INSERTs notify this worker from now on. A job may have come in between the last look and this moment, and in
    /// a track that is not known.
    mutating func listeningBegan() {
        look()
        pollSchedule.wantsSurvey = true
    }
}
