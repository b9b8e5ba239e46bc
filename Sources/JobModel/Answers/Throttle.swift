// SPDX-License-Identifier: Apache-2.0

/// How an answer outside `ok_statuses` asks to be called later. Such an answer uses no attempt.
public struct Throttle: Equatable, Sendable {
    /// The calls that have to wait.
    public enum Scope: Equatable, Sendable {
        /// All calls of the lane: too many calls came from this client.
        case lane
        /// This job alone: its resource is busy.
        case job
    }

    /// The calls that have to wait.
    public var scope: Scope
    /// How long; nil: the answer does not say.
    public var wait: Duration?
    /// Whether the server says that it has not acted, so that `at_most_once` allows another call.
    public var isRefusal: Bool

    /// Reads an answer; nil if it asks for no later call.
    ///
    /// A 429 always does. The other statuses need a wait: `Retry-After`, or a quota with nothing left and a reset.
    public init?(_ response: HTTPResponse) {
        switch response.status {
        case 429: break
        case 403, 409, 413, 420, 423, 503, 509, 529:
            guard response.retryAfter != nil || response.quotaReset != nil else { return nil }
        default: return nil
        }
        scope = [409, 413, 423].contains(response.status) ? .job : .lane
        isRefusal = response.status == 420 || response.status == 429
        wait =
            response.retryAfter.flatMap { $0 >= .seconds(1) ? $0 : nil } ?? response.quotaReset ?? response.retryAfter
    }
}
