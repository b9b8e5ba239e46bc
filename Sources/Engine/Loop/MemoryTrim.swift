// SPDX-License-Identifier: Apache-2.0

/// Decides when the worker returns freed memory to the system: once after its start and after each busy period.
///
/// It is due at the first heartbeat (every 3 s) that finds no call in flight and no claimed job since the heartbeat
/// before. Walking the heap takes milliseconds, which then delay no call.
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
