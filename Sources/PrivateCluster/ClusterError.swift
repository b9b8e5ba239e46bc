// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why there is no private PostgreSQL.
public struct ClusterError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What has to change.
    public enum Code: Equatable, Sendable {
        /// `initdb` and `postgres` are not installed, or not where we look.
        case notInstalled
        /// `initdb` failed.
        case initialize
        /// The server did not come up.
        case start
        /// The system refused a process, a directory or a pipe.
        case system
    }

    /// Which kind of failure it is.
    public var code: Code
    /// One line for people, with the server's own last words where there are any.
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
