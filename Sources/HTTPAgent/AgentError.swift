// SPDX-License-Identifier: Apache-2.0

/// Why no agent could be made; a call that fails is a `CallOutcome`, never an error.
public struct AgentError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of causes.
    public enum Code: Equatable, Sendable {
        /// `curl_global_init` or the creation of a handle failed.
        case cannotStart
        /// The libcurl that was loaded is older than the oldest that is supported.
        case oldLibrary
        /// The libcurl that was loaded lacks something that the agent cannot do without.
        case missingFeature
    }

    /// The kind of cause.
    public let code: Code
    /// What is wrong and how to mend it.
    public let message: String

    /// The message, which names the remedy.
    public var description: String { message }
}
