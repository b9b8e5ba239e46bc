// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// How an attempt ended, for the metrics. The name is the label `outcome`.
enum AttemptEnd: UInt8, CaseIterable, Sendable {
    case success
    case retry
    case throttled
    case failed
    case unknown

    /// The end by the letter that `finish` returns. Nil if no attempt was made: the job was handed back.
    init?(letter: UInt8) {
        switch Unicode.Scalar(letter) {
        case "s", "n": self = .success
        case "r", "p", "l", "o": self = .retry
        case "w", "d": self = .throttled
        case "f": self = .failed
        case "u": self = .unknown
        default: return nil
        }
    }
}

/// A final state of a job, for the metrics. The name is the label `state`.
enum FinalState: UInt8, CaseIterable, Sendable {
    case succeeded
    case failed
    case unknown
    case cancelled
    case expired
    case skipped

    /// The state by the letter that `finish` returns. Nil if the job goes on.
    init?(letter: UInt8) {
        switch Unicode.Scalar(letter) {
        case "s": self = .succeeded
        case "f": self = .failed
        case "u": self = .unknown
        default: return nil
        }
    }

    /// The state by its name in the views.
    init?(name: String) {
        guard let state = FinalState.allCases.first(where: { "\($0)" == name }) else { return nil }
        self = state
    }
}

/// The class of an answer by its status, for the metrics.
enum AnswerClass: UInt8, CaseIterable, Sendable {
    case informational
    case success
    case redirect
    case clientError
    case serverError
    /// No complete answer.
    case none

    /// The class of the answer of a call.
    init(_ outcome: CallOutcome) {
        guard case .response(let response) = outcome.ending else {
            self = .none
            return
        }
        self = AnswerClass(rawValue: UInt8(clamping: min(max(response.status / 100, 1), 5) - 1)) ?? .none
    }

    /// The label `answer`.
    var label: String { self == .none ? "none" : "\(rawValue + 1)xx" }
}
