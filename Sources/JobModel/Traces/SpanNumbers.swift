// SPDX-License-Identifier: Apache-2.0

/// The numbers of spans and traces, computed from the numbers of jobs. Pure.
///
/// Any worker computes the same number for a job, so spans of different workers fit together without a stored number.
/// The secret is the random id of the installation. So the jobs of two databases have different numbers.
public struct SpanNumbers: Sendable {
    private let seed: UInt64

    /// The numbers of the jobs with this prefix of their Idempotency-Keys.
    public init(prefix: String) {
        // FNV-1a.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in prefix.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        seed = hash
    }

    /// The span of a job, batch or chain.
    public func span(ofJob job: Int64) -> UInt64 { number(UInt64(bitPattern: job), purpose: 1) }

    /// The span of an attempt.
    public func span(ofJob job: Int64, fence: Int64) -> UInt64 {
        number(SpanNumbers.mix(UInt64(bitPattern: job)) ^ UInt64(bitPattern: fence), purpose: 2)
    }

    /// The trace that a job without a carried context begins. `root` is the batch or chain on top of it, or the job.
    public func trace(ofRoot root: Int64) -> TraceID {
        let root = UInt64(bitPattern: root)
        return TraceID(high: number(root, purpose: 3), low: number(root, purpose: 4))
    }

    /// A number that is never 0, since 0 means no span.
    private func number(_ value: UInt64, purpose: UInt64) -> UInt64 {
        let mixed = SpanNumbers.mix(SpanNumbers.mix(seed ^ purpose &* 0x9e37_79b9_7f4a_7c15) ^ value)
        return mixed == 0 ? 1 : mixed
    }

    /// The finalizer of SplitMix64. It is a bijection, so different values stay different.
    private static func mix(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9e37_79b9_7f4a_7c15
        z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }
}
