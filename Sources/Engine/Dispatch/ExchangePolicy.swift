// SPDX-License-Identifier: Apache-2.0

/// When the next exchange should go out. Pure.
///
/// With nothing under way the next one goes at once: an idle system waits for nothing. Where attempts end close behind
/// each other and there is no backlog for the slots (a lane with a rate, a stream of INSERTs), it waits a moment for
/// company. Under load two are on their way, so that PostgreSQL works on one while calls of the other run, and each is
/// to be worth its commit: a commit of one job costs five times that of sixteen.
enum ExchangePolicy {
    /// Exchanges under way at most.
    static let depth = 2
    /// Rows of one claim and one finish at most; beyond 64 the tail of the latency grows faster than the rate.
    static let claimLimit = 64
    static let finishLimit = 256
    /// A finished attempt waits no longer than this for company: 3 ms.
    static let patience: UInt64 = 3_000_000

    /// Attempts follow each other closely if the last exchange has written this many.
    static let density = 4
    /// Then, with nothing under way, the next one goes this long after it: 2 ms. At 5,000 calls a second of a lane with
    /// a rate it makes one transaction where there were two.
    static let pause: UInt64 = 2_000_000

    /// Whether to send now.
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

    /// Bodies of one finish: beyond 8 MiB a batch saves nothing and only holds memory on both sides.
    static let bodyLimit = 8 << 20

    /// How many attempts go into one finish, at least one: up to `limit`, and up to so many bytes of bodies.
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
