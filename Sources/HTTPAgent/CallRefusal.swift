// SPDX-License-Identifier: Apache-2.0
import JobModel

/// Why a call is not made at all: nothing of it has left.
struct CallRefusal: Error, Equatable {
    var code: ErrorCode
    /// One sentence for the user; never a secret.
    var message: String
    /// A file could not be opened since the process has no descriptor left.
    var lacksDescriptors = false

    init(_ code: ErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    static let memory = CallRefusal(
        .internal, "the call could not be handed to libcurl: memory or pools of connections are out")

    /// What the worker lacks for the moment, memory or a connection pool, it has again when other calls have ended.
    var failure: CallFailure { failure(sent: .no) }

    /// The same behind a redirect or an answer: something has left already.
    func failure(sent: SentState) -> CallFailure {
        var failure = CallFailure(code, message, sent: sent)
        failure.lacksDescriptors = lacksDescriptors
        if code == .internal { (failure.retries, failure.isLocal) = (true, true) }
        return failure
    }
}
