// SPDX-License-Identifier: Apache-2.0

/// A request body that did not come with the claim.
public struct LargeBody: Equatable, Sendable {
    /// Its approximate size in bytes when it is sent.
    public var bytes: Int
    /// Whether it is one block of bytes, and neither a form nor parts.
    public var isPlain: Bool
    /// Whether the database returns it in slices. True for plain bodies above 1 MiB.
    public var comesInSlices: Bool

    /// A body of this size.
    public init(bytes: Int, isPlain: Bool) {
        self.bytes = bytes
        self.isPlain = isPlain
        comesInSlices = isPlain && bytes > 1 << 20
    }

    /// The assumed size of a body that was not measured: the default of `max_request_body`, 16 MiB.
    public static let unread: LargeBody = {
        var body = LargeBody(bytes: 16 << 20, isPlain: true)
        body.comesInSlices = false
        return body
    }()
}

extension RequestBody {
    /// Its approximate size in memory. Files are streamed and do not count.
    public var byteCount: Int {
        switch self {
        case .none: 0
        case .bytes(let bytes, _): bytes.count
        case .form(let fields): fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        case .parts(let parts):
            parts.reduce(0) { sum, part in
                if case .bytes(let bytes) = part.content { sum + bytes.count } else { sum }
            }
        }
    }
}
