// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// One hostile input with its required end.
struct HostileInput: Sendable {
    /// The group of the input in one word, such as `addresses`.
    var group: String
    /// The input in words for the user, without secrets.
    var text: String
    /// The call that sends it.
    var call: HTTPCall
    var end: RequiredEnd
    /// By how many bytes the process may grow; nil: not measured.
    var growthLimit: Int?
    /// A further check after the call, such as of files. It returns a defect, or nil if all is correct.
    var also: (@Sendable () -> String?)?

    init(
        _ group: String, _ text: String, _ call: HTTPCall, _ end: RequiredEnd, growthLimit: Int? = nil,
        also: (@Sendable () -> String?)? = nil
    ) {
        self.group = group
        self.text = text
        self.call = call
        self.end = end
        self.growthLimit = growthLimit
        self.also = also
    }

    /// The password, token or body of every input. No message may quote it.
    static let secret = "audit-secret-7f3c"

    /// All inputs, group by group.
    static func all(_ ground: AuditGround) -> [HostileInput] {
        HostileAddresses.inputs(ground) + HostileURLs.inputs(ground) + HostileProxies.inputs(ground)
            + HostileRedirects.inputs(ground) + HostileHeaders.inputs(ground) + HostileAnswers.inputs(ground)
            + HostileFiles.inputs(ground)
    }
}
