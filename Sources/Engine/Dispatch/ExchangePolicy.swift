// SPDX-License-Identifier: Apache-2.0

/// Decides when the next exchange is sent. Pure.
///
/// If no exchange is under way, the next one is sent at once: an idle worker adds no delay. If attempts end close
/// behind each other and no backlog waits for the slots, it waits up to 2 ms for more attempts. Examples are a lane
/// with a rate limit and a stream of INSERTs.
///
/// Under load two exchanges are under way, so PostgreSQL works on one while calls of the other run. A commit of one job
/// costs five times as much per job as a commit of sixteen jobs.
enum ExchangePolicy {
    /// The most exchanges under way.
    static let depth = 2
    /// The most rows of one claim and of one finish. Beyond 64 claimed rows the tail latency grows faster than the
    /// throughput.
    static let claimLimit = 64
    static let finishLimit = 256
    /// The longest wait of a finished attempt for others: 3 ms.
    static let patience: UInt64 = 3_000_000

    /// Attempts count as dense if the last exchange has written this many.
    static let density = 4
    /// After a dense exchange the next one waits this long, if none is under way: 2 ms. At 5,000 calls a second in a
    /// lane with a rate limit this makes one transaction out of two.
    static let pause: UInt64 = 2_000_000

    /// Whether to send an exchange now.
    ///
    /// - Parameters:
    ///   - underWay: exchanges without an answer.
    ///   - finished: attempts to be written.
    ///   - claimable: free slots that a claim may fill; 0 if no claim is wanted.
    ///   - waited: nanoseconds since the oldest finished attempt.
    ///   - isPaused: the last exchange was dense, its pause is not over, and no backlog waits for a claim.
    static func isDue(
        underWay: Int, finished: Int, claimable: Int, capacity: Int, waited: UInt64, isPaused: Bool = false
    ) -> Bool {
        guard finished > 0 || claimable > 0, underWay < depth else { return false }
        let worthwhile = max(1, min(claimLimit / 2, capacity / 4))
        if finished >= worthwhile || claimable >= worthwhile { return true }
        if underWay == 0 { return !isPaused }
        return finished > 0 && waited >= patience
    }

    /// The most body bytes of one finish. Above 8 MiB a larger batch saves nothing, and holds memory on both sides.
    static let bodyLimit = 8 << 20

    /// How many attempts go into one finish: at least one, at most `limit`, and at most so many bytes of bodies.
    static func batch(of bodies: some Sequence<Int>, limit: Int, bytes most: Int = bodyLimit) -> Int {
        var bytes = 0
        var count = 0
        for body in bodies.prefix(limit) {
            bytes += body
            if count > 0 && bytes > most { break }
            count += 1
        }
        return max(1, count)
    }
}
