// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A system call that failed where it must not.
public struct ReactorError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The system call.
    public var operation: String
    /// Its `errno`.
    public var number: Int32

    /// Takes `errno` as the call left it.
    init(_ operation: String, number: Int32 = errno) {
        self.operation = operation
        self.number = number
    }

    /// `epoll_ctl: Bad file descriptor`.
    public var description: String {
        unsafe "\(operation): \(String(cString: strerror(number)))"
    }
}
