// SPDX-License-Identifier: Apache-2.0

/// An OpenAPI 3.0 or 3.1 document, with its references.
struct OpenAPIDocument {
    /// The whole document.
    let root: JSONValue
    /// The text of `openapi`, such as `3.0.3`.
    let version: String

    /// Reads JSON or YAML.
    init(_ bytes: [UInt8]) throws(DocumentError) {
        root = try OpenAPIDocument.parse(bytes)
        guard let object = root.object else {
            throw DocumentError(.version, "it is not an object; an OpenAPI file begins with the key openapi")
        }
        if object["swagger"] != nil {
            throw DocumentError(.version, "it is Swagger 2.0; convert it to OpenAPI 3.0 first")
        }
        switch object["openapi"] {
        case .string(let text): version = text
        case .number(let text): version = text
        default: throw DocumentError(.version, "the key openapi with the version is missing")
        }
        guard ["3.0", "3.1"].contains(where: { version == $0 || version.hasPrefix($0 + ".") }) else {
            throw DocumentError(.version, "the version of OpenAPI is neither 3.0 nor 3.1")
        }
    }

    /// A text that begins with `{` is JSON, or YAML that looks like JSON. If it is neither, the defect of the JSON is
    /// reported.
    private static func parse(_ bytes: [UInt8]) throws(DocumentError) -> JSONValue {
        let mark: [UInt8] = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? [0xEF, 0xBB, 0xBF] : []
        let first = bytes.dropFirst(mark.count).first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard first == UInt8(ascii: "{") else { return try YAMLReader.read(bytes) }
        do throws(DocumentError) {
            return try JSONReader.read(bytes)
        } catch {
            guard error.code == .syntax, let value = try? YAMLReader.read(bytes) else { throw error }
            return value
        }
    }

    /// Why a reference cannot be followed.
    enum ReferenceDefect: String, Error {
        case external = "refers to another file"
        case missing = "refers to a part that is not in the file"
        case endless = "refers to itself"
    }

    /// The value that a chain of `$ref` leads to; the value itself if it is no reference.
    func resolve(_ value: JSONValue) throws(ReferenceDefect) -> JSONValue {
        var value = value
        for _ in 0..<32 {
            guard let reference = value["$ref"]?.string else { return value }
            value = try target(reference)
        }
        throw .endless
    }

    /// The part that a reference such as `#/components/schemas/User` names (RFC 6901).
    func target(_ reference: String) throws(ReferenceDefect) -> JSONValue {
        guard reference == "#" || reference.hasPrefix("#/") else { throw .external }
        var value = root
        for step in reference.dropFirst(2).split(separator: "/", omittingEmptySubsequences: false)
        where reference != "#" {
            let name = JSONPointer.unescaped(step)
            switch value {
            case .object(let object):
                guard let member = object[name] else { throw .missing }
                value = member
            case .array(let elements):
                guard let index = Int(name), elements.indices.contains(index) else { throw .missing }
                value = elements[index]
            default: throw .missing
            }
        }
        return value
    }
}

/// Steps of JSON pointers (RFC 6901).
enum JSONPointer {
    /// A pointer of these steps.
    static func text(_ steps: [String]) -> String {
        steps.map { step in
            "/" + step.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) }.joined()
        }.joined()
    }

    /// A step of a pointer in the fragment of a URL: percent-encoded, with `~1` for `/` and `~0` for `~`.
    static func unescaped(_ step: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(step.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let decoded = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(decoded)
                rest = rest.dropFirst(2)
            } else if byte == UInt8(ascii: "~"), let next = rest.first, next == 0x30 || next == 0x31 {
                bytes.append(UInt8(ascii: next == 0x31 ? "/" : "~"))
                rest = rest.dropFirst()
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
