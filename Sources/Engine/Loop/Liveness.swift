// SPDX-License-Identifier: Apache-2.0

/// How long the database regards this worker as alive, by the last confirmed heartbeat. Times are monotonic
/// nanoseconds.
struct Liveness {
    /// After 10 s without a heartbeat, other workers may take this worker's permits and repeat its calls. So after 9.5
    /// s calls of lanes with limits end, and the worker claims no more.
    static let lifetime: UInt64 = 9_500_000_000

    /// When the last heartbeat was sent.
    private(set) var beatSent: UInt64 = 0
    private var enlistSent: UInt64 = 0
    /// When the last confirmed heartbeat or enlisting was sent.
    private var lastConfirmed: UInt64 = 0
    /// When the last confirmed heartbeat was sent. The enlisting does not count, since it uses the jobs session. If
    /// it did, a worker without a duties session would claim after each loss of its number, and repeat all calls.
    private var beatHeard: UInt64 = 0

    /// When the database may declare this worker lost. Nil before its first confirmed statement.
    var end: UInt64? { lastConfirmed > 0 ? lastConfirmed + Liveness.lifetime : nil }

    /// Whether the last confirmed heartbeat is so old that the worker must stop claiming.
    func isUnheard(now: UInt64) -> Bool { now >= beatHeard + Liveness.lifetime }

    /// Records that a heartbeat is sent.
    mutating func beats(now: UInt64) { beatSent = now }

    /// Records that the heartbeat is confirmed.
    mutating func beatConfirmed() {
        lastConfirmed = beatSent
        beatHeard = beatSent
    }

    /// Records that the enlisting is sent.
    mutating func enlists(now: UInt64) { enlistSent = now }

    /// Records that the worker has its number.
    mutating func enlisted() { lastConfirmed = enlistSent }
}
