// SPDX-License-Identifier: Apache-2.0

/// When the memory that calls and the start have left is given back to the system: once in each rest.
///
/// A rest is a time from one heartbeat to the next (3 s) in which nothing was claimed and nothing is in flight: the
/// walk over the heap takes milliseconds, which no call waits for then.
struct MemoryTrim {
    private var hasClaimed = false
    private var hasLeftovers = true

    /// A claim has brought jobs.
    mutating func claimed() {
        hasClaimed = true
        hasLeftovers = true
    }

    /// At a heartbeat: whether to give memory back now.
    mutating func isDue(inFlight: Int) -> Bool {
        let isRest = !hasClaimed && inFlight == 0
        hasClaimed = false
        guard isRest, hasLeftovers else { return false }
        hasLeftovers = false
        return true
    }
}
