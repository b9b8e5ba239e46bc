// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

/// A received `NOTIFY`.
public struct PGNotification: Equatable, Sendable {
    /// The channel.
    public var channel: String
    /// The payload, possibly empty.
    public var payload: String

    /// A notification.
    public init(channel: String, payload: String = "") {
        self.channel = channel
        self.payload = payload
    }

    /// The next one among the bytes that were read. C: `PQnotifies`.
    static func next(from connection: OpaquePointer) -> PGNotification? {
        guard let raw = unsafe PQnotifies(connection) else { return nil }
        defer { unsafe PQfreemem(raw) }
        return unsafe PGNotification(
            channel: String(cString: raw.pointee.relname), payload: String(cString: raw.pointee.extra))
    }
}
