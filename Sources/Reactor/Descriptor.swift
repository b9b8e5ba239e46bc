// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A file descriptor that is closed with the value.
public struct Descriptor: ~Copyable {
    /// The number.
    public let rawValue: Int32

    /// Takes the descriptor over.
    public init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Takes over what a system call returned, unless that is an error.
    init(_ operation: String, _ rawValue: Int32) throws(ReactorError) {
        guard rawValue >= 0 else { throw ReactorError(operation) }
        self.rawValue = rawValue
    }

    /// How much of what was written to a TCP connection has not arrived yet. C: `SIOCOUTQ`.
    public static func unconfirmedBytes(of socket: Int32) -> Int { Int(clinux_unconfirmed(socket)) }

    deinit {
        // No retry on EINTR: Linux has closed the descriptor by then, see close(2).
        _ = close(rawValue)
    }
}
