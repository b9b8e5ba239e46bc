// SPDX-License-Identifier: Apache-2.0

/// The database's clock in terms of the worker's monotonic one, learnt from answers that carry it. Pure.
///
/// The database read its clock between the sending of a question and its answer, so each pair bounds the difference;
/// the closest pair is kept, and given up as clocks drift or when another contradicts it (the clock was set).
public struct DatabaseClock: Sendable {
    /// Nanoseconds that the difference may have moved within a nanosecond, as a divisor: 200 ppm.
    private static let drift: UInt64 = 5_000

    /// Database minus monotonic time, in nanoseconds, and how far off that may be.
    private var best: (difference: Int64, error: UInt64, at: UInt64)?

    /// Knows nothing.
    public init() {}

    /// Takes in an answer: when it was asked for, when it came, and what the database's clock said, in microseconds.
    public mutating func note(sent: UInt64, received: UInt64, microseconds: Int64) {
        guard received >= sent else { return }
        let error = (received - sent) / 2 + 1_000
        let difference = microseconds &* 1000 &- Int64(clamping: sent + (received - sent) / 2)
        if let best {
            let age = received - min(received, best.at)
            let contradicts = (difference &- best.difference).magnitude > error + best.error + age / Self.drift
            guard contradicts || error <= best.error + age / Self.drift else { return }
        }
        best = (difference, error, received)
    }

    /// The monotonic time of a moment by the database's clock; nil while nothing is known. Never before 0.
    public func local(microseconds: Int64) -> UInt64? {
        best.map { UInt64(clamping: microseconds &* 1000 &- $0.difference) }
    }
}
