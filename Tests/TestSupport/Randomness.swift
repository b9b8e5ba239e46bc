// SPDX-License-Identifier: Apache-2.0

/// SplitMix64: the same seed gives the same numbers on every machine.
public struct Randomness: Sendable {
    private var state: UInt64

    /// Starts a sequence of numbers.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number, all 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// The next number in a range.
    public mutating func number(_ range: ClosedRange<UInt64>) -> UInt64 {
        range.lowerBound + next() % (range.upperBound - range.lowerBound + 1)
    }

    /// True in `percent` of 100 cases.
    public mutating func chance(_ percent: UInt64) -> Bool { next() % 100 < percent }
}
