// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// One part of `-F`, as curl reads it: `NAME=CONTENT`, `NAME=@FILE` or `NAME=<FILE`, and `;type=` and `;filename=`.
struct CurlPart: Equatable {
    var name: String
    var content: [UInt8]
    var filename: String?
    var type: String?

    /// Reads the value of -F, or of --form-string.
    ///
    /// - Throws: `usage`, also if a file cannot be read.
    init(_ text: String, isLiteral: Bool, read: CurlLine.Reader) throws(CommandError) {
        guard let sign = text.firstIndex(of: "=") else {
            throw CurlLine.refusal("-F", "it has no equals sign", "give one like -F name=value")
        }
        name = String(text[..<sign])
        var rest = text[text.index(after: sign)...]
        guard !isLiteral else {
            content = Array(rest.utf8)
            return
        }
        let kind = rest.first.flatMap { "@<(".contains($0) ? $0 : nil }
        if kind == "(" { throw CurlLine.refusal("-F", "a part cannot hold other parts", "give each part with -F") }
        if kind != nil { rest.removeFirst() }
        let value = CurlPart.takeValue(&rest)
        content = kind == nil ? Array(value.utf8) : []
        while rest.popFirst() == ";" { try takeOption(&rest) }
        guard let kind else {
            if let filename, type == nil { type = CurlPart.guessedType(filename) }
            if filename != nil, type == nil {
                throw CurlLine.refusal("-F", "a part with ;filename= has no type", "add one like ;type=text/plain")
            }
            return
        }
        if value.contains(","), kind == "@" {
            throw CurlLine.refusal("-F", "a part cannot hold several files", "give each file with -F")
        }
        content = try read(value)
        guard kind == "@" else { return }
        filename = filename ?? value.split(separator: "/").last.map(String.init) ?? value
        type = type ?? CurlPart.guessedType(filename ?? "") ?? "application/octet-stream"
    }

    /// A value up to the next semicolon, or in double quotes.
    private static func takeValue(_ rest: inout Substring) -> String {
        guard rest.first == "\"" else {
            let value = rest.prefix { $0 != ";" }
            rest = rest[value.endIndex...]
            return String(value)
        }
        rest.removeFirst()
        var value = ""
        while let letter = rest.popFirst(), letter != "\"" {
            if letter == "\\", let next = rest.first, next == "\\" || next == "\"" {
                value.append(rest.removeFirst())
            } else {
                value.append(letter)
            }
        }
        return value
    }

    private mutating func takeOption(_ rest: inout Substring) throws(CommandError) {
        let name = rest.prefix { $0 != "=" && $0 != ";" }.drop { $0 == " " }
        guard let sign = rest.firstIndex(of: "="), ["type", "filename", "headers"].contains(name) else {
            throw CurlLine.refusal(
                "-F", "only ;type= and ;filename= may follow a value", "quote the value: -F 'a=\"x;y\"'")
        }
        rest = rest[rest.index(after: sign)...]
        let value = CurlPart.takeValue(&rest)
        switch name {
        case "type": type = value
        case "filename": filename = value
        default:
            guard value.lowercased().hasPrefix("content-type: ") else {
                throw CurlLine.refusal("-F", "a part has no headers but Content-Type", "leave ;headers= out")
            }
            type = String(value.dropFirst("content-type: ".count))
        }
    }

    /// The type that curl 7.88 sends for the name of a file; nil: it knows none.
    private static func guessedType(_ name: String) -> String? {
        let types = [
            ".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png",
            ".svg": "image/svg+xml", ".txt": "text/plain", ".htm": "text/html", ".html": "text/html",
            ".pdf": "application/pdf", ".xml": "application/xml",
        ]
        let lower = name.lowercased()
        return types.first { lower.hasSuffix($0.key) }?.value ?? "application/octet-stream"
    }
}
