// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why a private PostgreSQL could not be started.
public struct ClusterError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Equatable, Sendable {
        /// `initdb` and `postgres` are not installed, or not in a known directory.
        case notInstalled
        /// `initdb` failed.
        case initialize
        /// The server did not start.
        case start
        /// The system refused a process, a directory or a pipe.
        case system
    }

    /// The kind of failure.
    public var code: Code
    /// One line for people, with the server's last messages if there are any.
    public var description: String

    /// A failure in words.
    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// A system call that failed with this number.
    static func system(_ call: String, _ number: Int32 = errno) -> ClusterError {
        unsafe ClusterError(.system, "\(call): \(String(cString: strerror(number)))")
    }
}
