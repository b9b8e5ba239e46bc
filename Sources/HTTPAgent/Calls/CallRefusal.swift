// SPDX-License-Identifier: Apache-2.0
import JobModel

/// Why a call is not made. No byte of it has left.
struct CallRefusal: Error, Equatable {
    var code: ErrorCode
    /// One sentence for the user, without secrets.
    var message: String
    /// Whether a file could not be opened because the process has no free descriptor.
    var lacksDescriptors = false

    init(_ code: ErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    static let memory = CallRefusal(
        .internal, "the call could not be handed to libcurl: the worker is out of memory or connection pools")

    /// A failure before the request. A lack of memory or of a connection pool passes when other calls have ended.
    var failure: CallFailure { failure(sent: .no) }

    /// A failure after a redirect or an answer, when bytes have left already.
    func failure(sent: SentState) -> CallFailure {
        var failure = CallFailure(code, message, sent: sent)
        failure.lacksDescriptors = lacksDescriptors
        if code == .internal { (failure.retries, failure.isLocal) = (true, true) }
        return failure
    }
}
