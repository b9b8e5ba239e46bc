// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The observations about one call, by the agent and by the servers.
struct CallTrace: Sendable {
    /// The outcome; nil if the call hung and was cancelled.
    var outcome: CallOutcome?
    /// How many connections were made to any of the servers.
    var connections = 0
    /// How many requests reached the server of the call.
    var requests = 0
    /// How many requests reached the second server, to which redirects lead.
    var elsewhere = 0
    /// How many connections reached the server that the environment names as a proxy.
    var trapped = 0
    /// By how many bytes the memory of the process grew at most.
    var growth = 0
    /// The outcome of an innocent call that followed on the same agent; nil if it hung.
    var innocent: CallOutcome?

    /// The outcome in a few words, for a fault.
    var words: String {
        switch outcome?.ending {
        case nil: "it did not end"
        case .response(let response): "it was answered with status \(response.status), \(response.body.count) bytes"
        case .failure(let failure):
            "it ended as \(failure.code.rawValue), \(failure.sent == .no ? "nothing sent" : "maybe sent") (\(failure.message))"
        }
    }

    /// The failure, if the call failed or its body could not be decoded.
    var failure: CallFailure? {
        switch outcome?.ending {
        case .failure(let failure): failure
        case .response(let response): response.bodyDefect
        case nil: nil
        }
    }

    /// The answer; nil without one.
    var response: HTTPResponse? {
        if case .response(let response)? = outcome?.ending { response } else { nil }
    }
}
