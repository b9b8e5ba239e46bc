// SPDX-License-Identifier: Apache-2.0

/// How many calls each of several tracks may have in flight, so that all get equal shares. Pure.
///
/// If freed slots simply went around in turn, tracks with slow calls would soon hold all slots, because they keep
/// theirs longer.
struct FairShare {
    /// The most calls of one track.
    let calls: Int

    /// Shares the free slots and the slots in use.
    ///
    /// - Parameters:
    ///   - free: how many slots are free; at least one.
    ///   - held: how many slots each track holds. Tracks without slots may be left out.
    ///   - sharers: how many tracks there are.
    init(free: Int, held: [Int], sharers: Int) {
        var slots = held.reduce(free, +)
        var sharers = max(1, sharers)
        // Tracks that already hold more than their share get no free slots.
        for count in held.sorted(by: >) {
            guard sharers > 1, count * sharers > slots else { break }
            slots -= count
            sharers -= 1
        }
        calls = (slots + sharers - 1) / sharers
    }
}
