// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A system call that failed.
public struct ReactorError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The system call.
    public var operation: String
    /// Its `errno`.
    public var number: Int32

    /// Reads `errno` right after the call.
    init(_ operation: String, number: Int32 = errno) {
        self.operation = operation
        self.number = number
    }

    /// For example `epoll_ctl: Bad file descriptor`.
    public var description: String {
        unsafe "\(operation): \(String(cString: strerror(number)))"
    }
}
