// SPDX-License-Identifier: Apache-2.0

/// Why the agent could not be created. A failed call is a `CallOutcome` and never an error.
public struct AgentError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of cause.
    public enum Code: Equatable, Sendable {
        /// `curl_global_init` or the creation of a handle failed.
        case cannotStart
        /// The loaded libcurl is older than the oldest supported version.
        case oldLibrary
        /// The loaded libcurl lacks a feature that the agent needs.
        case missingFeature
    }

    /// The kind of cause.
    public let code: Code
    /// The defect and its remedy.
    public let message: String

    /// The message, which includes the remedy.
    public var description: String { message }
}
