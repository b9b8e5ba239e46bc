// SPDX-License-Identifier: Apache-2.0

/// Decides when freed memory goes back to the system: once in each idle period.
///
/// An idle period is the time from one heartbeat to the next (3 s) without a claimed job and without a call in flight.
/// To walk the heap takes milliseconds, which then delay no call.
struct MemoryTrim {
    private var hasClaimed = false
    private var hasLeftovers = true

    /// Records that a claim has brought jobs.
    mutating func claimed() {
        hasClaimed = true
        hasLeftovers = true
    }

    /// Whether to give memory back now. Call it at each heartbeat.
    mutating func isDue(inFlight: Int) -> Bool {
        let isRest = !hasClaimed && inFlight == 0
        hasClaimed = false
        guard isRest, hasLeftovers else { return false }
        hasLeftovers = false
        return true
    }
}
