// SPDX-License-Identifier: Apache-2.0

/// Until when the database holds this worker for alive, by the signs of life that it has confirmed. Monotonic
/// nanoseconds.
struct Liveness {
    /// After 10 s without a sign of life others may hold this worker's permits, and make its calls: calls of lanes with
    /// limits end before that, and nothing more is claimed.
    static let lifetime: UInt64 = 9_500_000_000

    /// When the last heartbeat was sent.
    private(set) var beatSent: UInt64 = 0
    private var enlistSent: UInt64 = 0
    /// When the last confirmed sign was sent.
    private var sign: UInt64 = 0
    /// When the last confirmed heartbeat was sent. Not the enlisting: it goes by the jobs session, and a worker whose
    /// duties session is missing would claim anew each time that it has been declared lost, and call everything again.
    private var beatHeard: UInt64 = 0

    /// When this worker may be declared lost; nil: it has given no sign yet.
    var end: UInt64? { sign > 0 ? sign + Liveness.lifetime : nil }

    /// Whether no heartbeat has been confirmed for so long that nothing more may be claimed.
    func isUnheard(now: UInt64) -> Bool { now >= beatHeard + Liveness.lifetime }

    /// A heartbeat goes out.
    mutating func beats(now: UInt64) { beatSent = now }

    /// It is confirmed.
    mutating func beatConfirmed() {
        sign = beatSent
        beatHeard = beatSent
    }

    /// The enlisting goes out.
    mutating func enlists(now: UInt64) { enlistSent = now }

    /// The number is there.
    mutating func enlisted() { sign = enlistSent }
}
