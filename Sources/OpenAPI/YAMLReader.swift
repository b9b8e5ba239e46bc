// SPDX-License-Identifier: Apache-2.0

internal import CYAML

/// Reads one YAML document with libyaml.
///
/// An alias repeats the value of its anchor, which takes no memory. But each walk over the document visits it again, so
/// aliases could make a small file cost hours. So the count of values includes those that aliases repeat, and a document
/// may have `mostValues`.
@safe struct YAMLReader: ~Copyable {
    /// The most values of a document. Values that aliases repeat count each time. The API of Stripe, 6 MB, has 200,000.
    static let mostValues = 5_000_000

    private let parser: OpaquePointer
    private var anchors: [String: (value: JSONValue, count: Int)] = [:]
    private var count = 0

    /// The value of a whole text. C: `yaml_parser_parse`.
    static func read(_ bytes: [UInt8]) throws(DocumentError) -> JSONValue {
        let result = unsafe bytes.withUnsafeBytes { buffer -> Result<JSONValue, DocumentError> in
            guard let start = buffer.baseAddress else { return .success(.null) }
            guard let parser = unsafe cyaml_open(start, buffer.count) else {
                return .failure(DocumentError(.limit, "there is not enough memory"))
            }
            var reader = unsafe YAMLReader(parser: parser)
            do throws(DocumentError) {
                return .success(try reader.document())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private init(parser: OpaquePointer) { unsafe self.parser = parser }

    deinit { unsafe cyaml_close(parser) }

    /// An event with its texts copied.
    private struct Event {
        var kind: cyaml_kind
        var isPlain: Bool
        var line: Int
        var text: String
        var anchor: String?
        var tag: String?
    }

    private func event() throws(DocumentError) -> Event {
        let found = unsafe cyaml_next(parser)
        let bytes = unsafe UnsafeRawBufferPointer(start: found.text, count: found.length)
        let text = unsafe String(decoding: bytes, as: UTF8.self)
        let line = unsafe Int(found.line)
        if unsafe found.kind == CYAML_ERROR { throw DocumentError(.syntax, line: line, text) }
        return unsafe Event(
            kind: found.kind, isPlain: found.is_plain, line: line, text: text,
            anchor: found.anchor.map { unsafe String(cString: $0) }, tag: found.tag.map { unsafe String(cString: $0) })
    }

    private mutating func document() throws(DocumentError) -> JSONValue {
        guard try event().kind == CYAML_DOCUMENT else { return .null }
        let value = try value(at: try event(), depth: 1)
        let end = try event()
        guard end.kind == CYAML_END else {
            throw DocumentError(.syntax, line: end.line, "there is more than one document")
        }
        return value
    }

    private mutating func add(_ values: Int, _ event: Event) throws(DocumentError) {
        count += values
        guard count <= YAMLReader.mostValues else {
            throw DocumentError(.limit, line: event.line, "there are more than \(YAMLReader.mostValues) values")
        }
    }

    private mutating func value(at event: Event, depth: Int) throws(DocumentError) -> JSONValue {
        guard depth <= JSONReader.deepest else {
            throw DocumentError(.limit, line: event.line, "it is nested deeper than \(JSONReader.deepest) levels")
        }
        if event.kind == CYAML_ALIAS {
            // An alias inside its own anchor is refused here too, because the anchor is set at the end of its value.
            guard let anchor = event.anchor.flatMap({ anchors[$0] }) else {
                throw DocumentError(.syntax, line: event.line, "an alias has no anchor before it")
            }
            try add(anchor.count, event)
            return anchor.value
        }
        let before = count
        try add(1, event)
        let value: JSONValue
        switch event.kind {
        case CYAML_SEQUENCE: value = .array(try sequence(depth))
        case CYAML_MAPPING: value = .object(try mapping(depth))
        default: value = YAMLScalar.value(clean(event.text), isPlain: event.isPlain, tag: event.tag)
        }
        if let name = event.anchor { anchors[name] = (value, count - before) }
        return value
    }

    private mutating func sequence(_ depth: Int) throws(DocumentError) -> [JSONValue] {
        var elements: [JSONValue] = []
        while true {
            let event = try event()
            if event.kind == CYAML_CLOSE { return elements }
            elements.append(try value(at: event, depth: depth + 1))
        }
    }

    /// A mapping. A key is a text as it is written, such as `200`. `<<` merges other mappings, as in YAML 1.1.
    private mutating func mapping(_ depth: Int) throws(DocumentError) -> JSONObject {
        var object = JSONObject()
        var merged: [JSONValue] = []
        while true {
            let key = try event()
            if key.kind == CYAML_CLOSE { break }
            var name = clean(key.text)
            if key.kind != CYAML_SCALAR {
                guard case .string(let text) = try value(at: key, depth: depth + 1) else {
                    throw DocumentError(.syntax, line: key.line, "a key is not a text")
                }
                name = text
            } else if let anchor = key.anchor {
                anchors[anchor] = (.string(name), 1)
            }
            let member = try value(at: try event(), depth: depth + 1)
            if name == "<<", key.kind == CYAML_SCALAR, key.isPlain {
                merged += member.elements.isEmpty ? [member] : member.elements
            } else {
                object[name] = member
            }
        }
        for other in merged {
            for (key, value) in other.object ?? [:] where object[key] == nil { object[key] = value }
        }
        return object
    }

    /// A NUL, which PostgreSQL cannot store, becomes U+FFFD.
    private func clean(_ text: String) -> String {
        text.utf8.contains(0) ? String(text.map { $0 == "\0" ? "\u{FFFD}" : $0 }) : text
    }
}
