// SPDX-License-Identifier: Apache-2.0

/// The work that follows when an attempt is stored, in addition to its result.
public struct FollowUp: OptionSet, Sendable {
    /// One bit for each kind of work.
    public let rawValue: UInt8

    /// The options with these bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The job is a member: its batch or chain must be settled, and other jobs may become ready.
    public static let tree = FollowUp(rawValue: 1)
    /// Callbacks, hooks or webhooks run in the transaction that concludes the job.
    public static let outcome = FollowUp(rawValue: 2)
    /// The job may be ready at once, for its next page.
    public static let page = FollowUp(rawValue: 4)
    /// The job is ready again at its old place, for another server. Other workers find it there only by a survey.
    public static let oldPlace = FollowUp(rawValue: 8)
}
