// SPDX-License-Identifier: Apache-2.0
import JobModel

/// Why a call is not made at all: nothing of it has left.
struct CallRefusal: Error, Equatable {
    var code: ErrorCode
    /// One sentence for the user; never a secret.
    var message: String

    init(_ code: ErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    static let memory = CallRefusal(.internal, "the call could not be handed to libcurl: the memory is out")

    var failure: CallFailure { CallFailure(code, message, sent: .no) }
}
