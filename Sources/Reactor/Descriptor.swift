// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A file descriptor that the deinit closes.
public struct Descriptor: ~Copyable, Sendable {
    /// The number.
    public let rawValue: Int32

    /// Takes ownership of the descriptor.
    public init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Takes ownership of a system call's result, or throws its error.
    init(_ operation: String, _ rawValue: Int32) throws(ReactorError) {
        guard rawValue >= 0 else { throw ReactorError(operation) }
        self.rawValue = rawValue
    }

    /// How many bytes the other end of a TCP connection has not confirmed. C: `SIOCOUTQ`.
    public static func unconfirmedBytes(of socket: Int32) -> Int { Int(clinux_unconfirmed(socket)) }

    deinit {
        // No retry after EINTR: Linux has closed the descriptor by then, see close(2).
        _ = close(rawValue)
    }
}
