// SPDX-License-Identifier: Apache-2.0

// When to look for jobs that nobody announced.
extension Dispatcher {
    /// Whether a survey is to be sent now; it counts as begun.
    mutating func surveyBegins(now: UInt64) -> Bool {
        guard !isDraining, slots.freeCount > 0, now >= lookout.surveyDue else { return false }
        lookout.surveyBegan(now: now)
        return true
    }

    /// When to look for jobs again if nothing happens before; never while all slots are taken.
    func nextLook(canSurvey: Bool) -> UInt64? {
        guard worker > 0, takesJobs, slots.freeCount > 0 else { return nil }
        return canSurvey ? min(lookout.poll, lookout.surveyDue) : lookout.poll
    }
}
