// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// A body by its kind: JSON as a tree, text, an image, or the first bytes of other data. It is never read as HTML.
struct BodyView {
    /// How many bytes of a text are shown.
    static let mostShown = 64 << 10
    /// An image is shown as a whole or not at all.
    static let largestImage = 512 << 10

    /// The name of the body, such as `body of the answer`.
    let title: String
    /// The body or its beginning.
    let bytes: [UInt8]
    /// The size of the whole body.
    let size: Int
    /// The path that downloads it; nil: none.
    var download: String?

    /// Adds the figure.
    func write(to html: inout HTML) {
        let isImage = BodyKind(Array(bytes.prefix(16)), isPart: true).isImage
        let shown = isImage && bytes.count == size ? bytes : Array(bytes.prefix(BodyView.mostShown))
        let kind = BodyKind(shown, isPart: shown.count < size)
        html.element("figure", ["class": "code-block"]) { html in
            html.element("figcaption") { html in
                html.element("span", words(for: kind))
                if let download, size > 0 { html.element("a", ["href": download, "download": ""], "Download") }
                if kind.isText { CodeBlock.button(title, to: &html) }
            }
            write(kind, shown, to: &html)
            if shown.count < size, kind.isText {
                html.element(
                    "p", ["class": "empty"], "The first \(shown.count >> 10) KiB are shown.")
            }
        }
    }

    private func words(for kind: BodyKind) -> String {
        let size = Column.size(Double(size))
        return switch kind {
        case .empty: "No body"
        case .image(let type): "\(size), \(type)"
        case .json: "\(size), JSON"
        case .text: "\(size), text"
        case .binary: "(\(self.size) bytes, not text)"
        }
    }

    private func write(_ kind: BodyKind, _ shown: [UInt8], to html: inout HTML) {
        switch kind {
        case .empty: break
        case .image(let type) where shown.count == size:
            html.open("img", ["src": "data:\(type);base64,\(Base64.encode(shown))", "alt": title])
        case .image:
            html.element("p", ["class": "empty"], "The image is larger than \(BodyView.largestImage >> 10) KiB.")
        case .json(let json):
            JSONTree(json: json).write(to: &html)
            if json.isCut {
                html.element(
                    "p", ["class": "empty"], "The tree shows the beginning, at most \(JSONTokens.mostValues) values.")
            }
            html.element("details") { html in
                html.element("summary", "As received")
                text(String(decoding: shown, as: UTF8.self), to: &html)
            }
        case .text(let text): self.text(text, to: &html)
        case .binary: text(BodyView.hexadecimal(shown.prefix(256)), to: &html)
        }
    }

    private func text(_ text: String, to html: inout HTML) {
        html.element("pre", ["tabindex": "0", "role": "region", "aria-label": title], text)
    }

    /// The bytes in hexadecimal, 16 in a line, with their ASCII characters.
    static func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String {
        func digits(_ number: Int, _ width: Int) -> String {
            let text = String(number, radix: 16)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        return stride(from: bytes.startIndex, to: bytes.endIndex, by: 16).map { start in
            let line = bytes[start..<min(start + 16, bytes.endIndex)]
            let codes = line.map { digits(Int($0), 2) }.joined(separator: " ")
            let letters = line.map { (0x20..<0x7f).contains($0) ? Character(Unicode.Scalar($0)) : "." }
            let blanks = String(repeating: "   ", count: 16 - line.count)
            return "\(digits(start - bytes.startIndex, 4))  \(codes)\(blanks)  \(String(letters))"
        }.joined(separator: "\n")
    }
}

extension BodyKind {
    var isImage: Bool { if case .image = self { true } else { false } }

    /// Whether it has a text that can be copied.
    var isText: Bool {
        switch self {
        case .json, .text: true
        case .empty, .image, .binary: false
        }
    }
}
