// SPDX-License-Identifier: Apache-2.0

/// The kind of a body, found by its bytes. The Content-Type of an API is not trusted.
enum BodyKind: Equatable {
    case empty
    /// An image, with its media type.
    case image(String)
    case json(JSONTokens)
    case text(String)
    case binary

    /// The kind of a body, or of its beginning.
    ///
    /// - Parameter isPart: whether more bytes follow.
    init(_ bytes: [UInt8], isPart: Bool) {
        if bytes.isEmpty {
            self = .empty
        } else if let type = BodyKind.imageType(bytes) {
            self = .image(type)
        } else if let text = BodyKind.text(bytes, isPart: isPart) {
            let first = text.utf8.first { !" \t\r\n".utf8.contains($0) }
            if first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
                let json = JSONTokens(bytes, isPart: isPart)
            {
                self = .json(json)
            } else {
                self = .text(text)
            }
        } else {
            self = .binary
        }
    }

    /// The Content-Type of a download. A browser runs none of these types.
    var safeType: String {
        switch self {
        case .image(let type): type
        case .json: "application/json"
        case .text, .empty: "text/plain; charset=utf-8"
        case .binary: "application/octet-stream"
        }
    }

    /// The end of the name of a downloaded file.
    var fileExtension: String {
        switch self {
        case .image(let type): String(type.dropFirst("image/".count))
        case .json: "json"
        case .text, .empty: "txt"
        case .binary: "bin"
        }
    }

    /// The formats of images that hold no markup, by their first bytes. SVG holds markup.
    private static func imageType(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return "image/png" }
        if bytes.starts(with: [0xff, 0xd8, 0xff]) { return "image/jpeg" }
        if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) { return "image/gif" }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return "image/webp" }
        return nil
    }

    /// The text of bytes in UTF-8 without NUL. A part may end within a character, which has at most 4 bytes.
    private static func text(_ bytes: [UInt8], isPart: Bool) -> String? {
        guard !bytes.contains(0) else { return nil }
        for missing in isPart ? 0...min(3, bytes.count) : 0...0 {
            if let text = String(validating: bytes.dropLast(missing), as: UTF8.self) { return text }
        }
        return nil
    }
}
