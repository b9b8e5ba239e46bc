// SPDX-License-Identifier: Apache-2.0

/// What the end of a job sets off beyond its result.
public struct FollowUp: OptionSet, Sendable {
    /// One bit for each.
    public let rawValue: UInt8

    /// The options with these bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A batch or chain hears of it, and other jobs may become ready.
    public static let tree = FollowUp(rawValue: 1)
    /// Callbacks, hooks or notices are to run in the transaction that ends the job.
    public static let outcome = FollowUp(rawValue: 2)
    /// The job may be ready at once, for its next page.
    public static let page = FollowUp(rawValue: 4)
    /// The job is ready again at its old place, for another server; only a survey finds it there.
    public static let place = FollowUp(rawValue: 8)
}
