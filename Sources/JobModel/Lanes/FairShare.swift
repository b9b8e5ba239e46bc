// SPDX-License-Identifier: Apache-2.0

/// How many calls each of several tracks may have in flight, so that none gets more while another has fewer. Pure.
///
/// If each freed slot just went around in turn, tracks of slow calls would soon hold them all: they keep theirs for
/// longer.
struct FairShare {
    /// Calls of one track.
    let calls: Int

    /// Shares the free slots, and those that calls hold.
    ///
    /// - Parameters:
    ///   - free: how many slots are free; at least one.
    ///   - held: how many each track holds; those that hold none may be left out.
    ///   - sharers: how many tracks there are.
    init(free: Int, held: [Int], sharers: Int) {
        var slots = held.reduce(free, +)
        var sharers = max(1, sharers)
        // Those with more than their share leave what is free to the others.
        for count in held.sorted(by: >) {
            guard sharers > 1, count * sharers > slots else { break }
            slots -= count
            sharers -= 1
        }
        calls = (slots + sharers - 1) / sharers
    }
}
