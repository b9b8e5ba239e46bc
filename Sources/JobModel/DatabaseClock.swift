// SPDX-License-Identifier: Apache-2.0

/// Converts times of the database's clock to the worker's monotonic clock. Pure.
///
/// The database reads its clock between a question and its answer, so each such pair bounds the difference. The closest
/// pair is kept. It is replaced when its error has grown by drift, or when another pair contradicts it because the
/// clock was set.
public struct DatabaseClock: Sendable {
    /// The assumed drift of the difference: 200 ppm, as a divisor.
    private static let drift: UInt64 = 5_000

    /// Database time minus monotonic time, in nanoseconds, and its largest error.
    private var best: (difference: Int64, error: UInt64, at: UInt64)?

    /// A clock without any measurement.
    public init() {}

    /// Takes a measurement: when the question was sent, when the answer came, and the database's clock in microseconds.
    public mutating func note(sent: UInt64, received: UInt64, microseconds: Int64) {
        guard received >= sent else { return }
        // The database's clock counts microseconds, so 1 µs is added.
        let error = (received - sent) / 2 + 1_000
        let difference = microseconds &* 1000 &- Int64(clamping: sent + (received - sent) / 2)
        if let best {
            let age = received - min(received, best.at)
            let contradicts = (difference &- best.difference).magnitude > error + best.error + age / Self.drift
            guard contradicts || error <= best.error + age / Self.drift else { return }
        }
        best = (difference, error, received)
    }

    /// The monotonic time of a moment of the database's clock, at least 0. Nil before the first measurement.
    public func local(microseconds: Int64) -> UInt64? {
        best.map { UInt64(clamping: microseconds &* 1000 &- $0.difference) }
    }
}
