// SPDX-License-Identifier: Apache-2.0

/// A request of the server to be called later, by an answer outside `ok_statuses`. Such an answer uses no attempt.
public struct Throttle: Equatable, Sendable {
    /// The calls that have to wait.
    public enum Scope: Equatable, Sendable {
        /// All calls of the lane: this client has sent too many calls.
        case lane
        /// Only this job: its resource is busy.
        case job
    }

    /// The calls that have to wait.
    public var scope: Scope
    /// The wait; nil if the answer names none.
    public var wait: Duration?
    /// Whether the server says that it has not acted. Then an `at_most_once` job may be called again.
    public var isRefusal: Bool

    /// Reads an answer. Nil if it does not ask for a later call.
    ///
    /// A 429 always asks for it. Other statuses need a wait: `Retry-After`, or a used-up quota with a reset.
    public init?(_ response: HTTPResponse) {
        switch response.status {
        case 429: break
        case 403, 409, 413, 420, 423, 503, 509, 529:
            guard response.retryAfter != nil || response.quotaReset != nil else { return nil }
        default: return nil
        }
        scope = [409, 413, 423].contains(response.status) ? .job : .lane
        isRefusal = response.status == 420 || response.status == 429
        // A `Retry-After` below a second gives way to the reset of a quota.
        wait =
            response.retryAfter.flatMap { $0 >= .seconds(1) ? $0 : nil } ?? response.quotaReset ?? response.retryAfter
    }
}
