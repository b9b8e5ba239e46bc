// SPDX-License-Identifier: Apache-2.0

/// A request body that the claim has not brought.
public struct LargeBody: Equatable, Sendable {
    /// How many bytes it has as it is sent, at least about.
    public var bytes: Int
    /// Whether it is one block of bytes: not a form, and not parts.
    public var isPlain: Bool
    /// Whether the database hands it out in slices: 1 MiB at once may stand in a row.
    public var comesInSlices: Bool

    /// A body of this size.
    public init(bytes: Int, isPlain: Bool) {
        self.bytes = bytes
        self.isPlain = isPlain
        comesInSlices = isPlain && bytes > 1 << 20
    }

    /// What is assumed of a body that was not looked at: the default of `max_request_body`.
    public static let unread: LargeBody = {
        var body = LargeBody(bytes: 16 << 20, isPlain: true)
        body.comesInSlices = false
        return body
    }()
}

extension RequestBody {
    /// How many bytes it takes in memory, about: files are streamed.
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
