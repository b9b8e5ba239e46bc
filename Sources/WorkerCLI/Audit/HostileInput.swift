// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// One input of the hostile list: what is sent, and what must become of it.
struct HostileInput: Sendable {
    /// The part of the list that it belongs to, in one word: `addresses`.
    var group: String
    /// What is sent, for the person who reads; holds no secret.
    var text: String
    /// How it is sent.
    var call: HTTPCall
    /// What must become of it.
    var end: RequiredEnd
    /// By how many bytes the memory of the process may grow meanwhile; nil: it is not measured.
    var mayGrow: Int?
    /// Looks at what the call must have left behind, or not; nil: all is as it must be.
    var also: (@Sendable () -> String?)?

    init(
        _ group: String, _ text: String, _ call: HTTPCall, _ end: RequiredEnd, mayGrow: Int? = nil,
        also: (@Sendable () -> String?)? = nil
    ) {
        self.group = group
        self.text = text
        self.call = call
        self.end = end
        self.mayGrow = mayGrow
        self.also = also
    }

    /// Stands wherever an input has a password, a token or a body; no message may quote it.
    static let secret = "audit-secret-7f3c"

    /// The whole list, in the order in which it is tried.
    static func all(_ ground: AuditGround) -> [HostileInput] {
        HostileAddresses.inputs(ground) + HostileURLs.inputs(ground) + HostileProxies.inputs(ground)
            + HostileRedirects.inputs(ground) + HostileHeaders.inputs(ground) + HostileAnswers.inputs(ground)
            + HostileFiles.inputs(ground)
    }
}
