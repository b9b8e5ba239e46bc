// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// What was seen of one call, by the agent and by the servers around it.
struct CallTrace: Sendable {
    /// How it ended; nil: it did not, and was cancelled.
    var outcome: CallOutcome?
    /// Connections that were made to any of the servers meanwhile.
    var connections = 0
    /// Requests that came to the server that the call is for.
    var requests = 0
    /// Requests that came to the other server, the one that redirects lead to.
    var elsewhere = 0
    /// Connections to the server that the environment names as a proxy.
    var trapped = 0
    /// By how many bytes the memory of the process grew at most.
    var growth = 0
    /// How an innocent call ended that came next on the same agent; nil: it did not.
    var innocent: CallOutcome?

    /// The end in a few words, for a fault.
    var words: String {
        switch outcome?.ending {
        case nil: "it did not end"
        case .response(let response): "it was answered with status \(response.status), \(response.body.count) bytes"
        case .failure(let failure):
            "it ended as \(failure.code.rawValue), \(failure.sent == .no ? "nothing sent" : "maybe sent") (\(failure.message))"
        }
    }

    /// The failure, if it ended as one or has a body that could not be decoded.
    var failure: CallFailure? {
        switch outcome?.ending {
        case .failure(let failure): failure
        case .response(let response): response.bodyDefect
        case nil: nil
        }
    }

    /// The answer, if there was one.
    var response: HTTPResponse? {
        if case .response(let response)? = outcome?.ending { response } else { nil }
    }
}
