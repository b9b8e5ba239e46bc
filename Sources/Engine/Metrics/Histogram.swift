// SPDX-License-Identifier: Apache-2.0

/// Durations counted in buckets. Pure.
public struct Histogram: Equatable, Sendable {
    /// The upper bounds of call durations, in microseconds: 5 ms to 5 min.
    public static let calls: [Int64] = [
        5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
        30_000_000,
        60_000_000, 300_000_000,
    ]
    /// The upper bounds of waits, in microseconds: 5 ms to 12 h.
    public static let waits: [Int64] = [
        5_000, 10_000, 25_000, 100_000, 250_000, 1_000_000, 5_000_000, 15_000_000, 60_000_000, 300_000_000,
        1_800_000_000,
        7_200_000_000, 43_200_000_000,
    ]

    /// The upper bounds of the buckets, in microseconds.
    public let bounds: [Int64]
    /// How many durations lie in each bucket and not in one before. The last bucket has no bound.
    public private(set) var counts: [Int]
    /// The sum of all durations, in seconds.
    public private(set) var seconds = 0.0

    /// A histogram without durations.
    public init(_ bounds: [Int64]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// How many durations were counted.
    public var count: Int { counts.reduce(0, +) }

    /// Counts a duration. A negative one, after the clock was set, counts as 0.
    mutating func observe(_ microseconds: Int64) {
        var bucket = 0
        while bucket < bounds.count, microseconds > bounds[bucket] { bucket += 1 }
        counts[bucket] += 1
        seconds += Double(max(0, microseconds)) / 1_000_000
    }

    /// Adds the counts of another histogram with the same bounds.
    mutating func add(_ other: Histogram) {
        for bucket in counts.indices { counts[bucket] += other.counts[bucket] }
        seconds += other.seconds
    }
}
