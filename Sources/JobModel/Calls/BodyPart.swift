// SPDX-License-Identifier: Apache-2.0

/// One part of a multipart/form-data body.
public struct BodyPart: Equatable, Sendable {
    /// The source of a part's bytes.
    public enum Content: Equatable, Sendable {
        /// The bytes themselves.
        case bytes([UInt8])
        /// A file that is streamed, by its path relative to the worker's files root.
        case file(path: String)
    }

    /// The name of the form field: any text. Quotes and line breaks are escaped on the wire.
    public var name: String
    /// The bytes, or the file that has them.
    public var content: Content
    /// The filename that is sent; nil: the last component of a file's path, and none for bytes.
    public var filename: String?
    /// The part's Content-Type; nil: `application/octet-stream` for a file, and none for bytes without a filename.
    public var type: String?
    /// The largest content in bytes that may be sent; nil: any.
    public var maxBytes: Int64?

    /// A part. No argument is checked here.
    public init(
        name: String, content: Content, filename: String? = nil, type: String? = nil, maxBytes: Int64? = nil
    ) {
        self.name = name
        self.content = content
        self.filename = filename
        self.type = type
        self.maxBytes = maxBytes
    }

    /// The filename on the wire: a file has one in any case.
    public var sentFilename: String? {
        guard filename == nil, case .file(let path) = content else { return filename }
        return path.split(separator: "/").last.map(String.init)
    }

    /// The Content-Type on the wire. Without one libcurl would guess it by the extension of the name.
    public var sentType: String? { type ?? (sentFilename == nil ? nil : "application/octet-stream") }

    /// Whether its bytes come from a file.
    public var isFile: Bool {
        if case .file = content { true } else { false }
    }
}
