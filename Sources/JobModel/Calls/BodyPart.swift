// SPDX-License-Identifier: Apache-2.0

/// One part of a multipart/form-data body.
public struct BodyPart: Equatable, Sendable {
    /// Where a part's bytes come from.
    public enum Content: Equatable, Sendable {
        /// They are here.
        case bytes([UInt8])
        /// They are streamed from a file, by its path relative to the worker's files root.
        case file(path: String)
    }

    /// The form field's name; any text, quotes and line breaks are escaped on the wire.
    public var name: String
    /// The bytes, or where they are.
    public var content: Content
    /// What the server is told the file is called; nil: the last component of a file's path, and nothing for bytes.
    public var filename: String?
    /// The part's Content-Type; nil: `application/octet-stream` for a file, and none for bytes without a filename.
    public var type: String?
    /// The largest content in bytes that may be sent; nil: any.
    public var maxBytes: Int64?

    /// A part with nothing but a name and content unless more is given; nothing is checked here.
    public init(
        name: String, content: Content, filename: String? = nil, type: String? = nil, maxBytes: Int64? = nil
    ) {
        self.name = name
        self.content = content
        self.filename = filename
        self.type = type
        self.maxBytes = maxBytes
    }

    /// Whether its bytes come from a file.
    public var isFile: Bool {
        if case .file = content { true } else { false }
    }
}
