// SPDX-License-Identifier: Apache-2.0

/// Reads the schemas of one document.
///
/// Schemas may refer to each other in circles, and a small file may describe a tree with millions of nodes. So the
/// reader visits at most `mostSteps` schemas for one operation; further ones allow any value.
final class SchemaReader {
    static let mostSteps = 20_000
    /// The longest validator, and the longest type of an argument, in bytes. A longer validator is checked on a session
    /// of its own, and each job keeps a copy.
    static let longestShape = 1_000
    /// The most levels of a shape.
    static let mostLevels = 7

    let document: OpenAPIDocument
    private var known: [String: Schema] = [:]
    private var open: Set<String> = []
    private var steps = 0
    /// The references of the operation that cannot be followed, with the reason.
    private(set) var defects: [String] = []

    init(_ document: OpenAPIDocument) { self.document = document }

    /// Begins with another operation.
    func restart() {
        steps = 0
        defects = []
    }

    /// A schema without references. A part that cannot be read allows any value.
    func schema(_ value: JSONValue) -> Schema {
        steps += 1
        guard steps <= SchemaReader.mostSteps, let object = value.object else { return Schema() }
        guard let reference = object["$ref"]?.string else { return combined(object) }
        if let schema = known[reference] { return schema }
        // A reference inside its own value adds nothing.
        guard open.insert(reference).inserted else { return Schema() }
        defer { open.remove(reference) }
        let target: JSONValue
        do throws(OpenAPIDocument.ReferenceDefect) {
            target = try document.target(reference)
        } catch {
            let defect = "the schema \(reference) \(error.rawValue), so it allows any value"
            if !defects.contains(defect) { defects.append(defect) }
            return Schema()
        }
        let schema = schema(target)
        // Inside an open reference the value may lack a part, so only the outermost one is kept.
        if open.count == 1 { known[reference] = schema }
        return schema
    }

    private func combined(_ object: JSONObject) -> Schema {
        var result = own(object)
        for part in object["allOf"]?.elements ?? [] { result = result.merged(with: schema(part)) }
        for key in ["oneOf", "anyOf"] {
            // Null fits each type, so a variant of null says nothing.
            let variants = (object[key]?.elements ?? []).filter { $0["type"]?.string != "null" }.map(schema)
            if !variants.isEmpty { result = result.merged(with: Schema.union(variants)) }
        }
        return result
    }

    /// The keys that the schema has itself.
    private func own(_ object: JSONObject) -> Schema {
        var result = Schema()
        var names = object["type"]?.elements.compactMap(\.string) ?? []
        if let name = object["type"]?.string { names = [name] }
        let kinds = names.compactMap { name -> Schema.Kind? in
            switch name {
            case "string", "file": .string
            case "number", "integer": .number
            case "boolean": .boolean
            case "array": .array
            case "object": .object
            default: nil
            }
        }
        if !kinds.isEmpty { result.kinds = Set(kinds) }
        result.properties = object["properties"]?.object ?? [:]
        result.required = Set(object["required"]?.elements.compactMap(\.string) ?? [])
        result.items = object["items"]
        result.isReadOnly = object["readOnly"] == .bool(true)
        result.isWriteOnly = object["writeOnly"] == .bool(true)
        result.isBinary =
            object["format"]?.string == "binary" || object["format"]?.string == "byte" && names.isEmpty
            || object["contentMediaType"]?.string == "application/octet-stream" && object["contentEncoding"] == nil
            || object["type"]?.string == "file"
        let values = object["const"].map { [$0] } ?? object["enum"]?.elements
        if let values { take(values.filter { $0 != .null }, &result) }
        if result.kinds == nil {
            if !result.properties.isEmpty || object["additionalProperties"]?.object != nil {
                result.kinds = [.object]
            } else if result.items != nil {
                result.kinds = [.array]
            } else if result.isBinary {
                result.kinds = [.string]
            }
        }
        return result
    }

    /// Takes the values of `enum` or `const`. Only texts can be limited to values.
    private func take(_ values: [JSONValue], _ schema: inout Schema) {
        let texts = values.compactMap(\.string)
        if texts.count == values.count, (1...1000).contains(texts.count), !texts.contains("") {
            schema.texts = texts.enumerated().filter { !texts[..<$0.offset].contains($0.element) }.map(\.element)
        }
        guard schema.kinds == nil, !values.isEmpty else { return }
        schema.kinds = Set(
            values.map { value in
                switch value {
                case .string, .null: .string
                case .number: .number
                case .bool: .boolean
                case .array: .array
                case .object: .object
                }
            })
    }

    /// The type of an argument: as in a validator, or the allowed values of a text.
    func argumentType(_ schema: Schema) -> JSONValue {
        if schema.kind == .string, let texts = schema.texts {
            let values = JSONValue.array(texts.map { .string($0) })
            if values.text.utf8.count <= 20_000 { return ["enum": values] }
        }
        return shape(schema, isAnswer: false) ?? "any"
    }

    /// A schema as a validator, with as many levels as fit in `longestShape`. Nil: it allows any value.
    func shape(_ schema: Schema, isAnswer: Bool) -> JSONValue? {
        for levels in (1...SchemaReader.mostLevels).reversed() {
            var nodes = 0
            let shape = shape(schema, levels, isAnswer, &nodes)
            if let shape, shape.text.utf8.count <= SchemaReader.longestShape { return shape == "any" ? nil : shape }
        }
        return nil
    }

    /// Nil if there are too many nodes.
    private func shape(_ schema: Schema, _ levels: Int, _ isAnswer: Bool, _ nodes: inout Int) -> JSONValue? {
        nodes += 1
        guard nodes <= SchemaReader.longestShape / 5 else { return nil }
        switch schema.kind {
        case nil: return "any"
        case .string: return "string"
        case .number: return "number"
        case .boolean: return "boolean"
        case .array:
            guard levels > 1, let items = schema.items else { return "array" }
            guard let element = shape(self.schema(items), levels - 1, isAnswer, &nodes) else { return nil }
            return element == "any" ? "array" : .array([element])
        case .object:
            var members = JSONObject()
            for name in schema.required.sorted() where levels > 1 {
                let property = self.schema(schema.properties[name] ?? .null)
                // A property that only the answer has is not sent, and the other way round.
                if isAnswer ? property.isWriteOnly : property.isReadOnly { continue }
                guard let member = shape(property, levels - 1, isAnswer, &nodes) else { return nil }
                members[name] = member
            }
            // As the type of an argument, an object with the one key enum would limit a text.
            return members.isEmpty || members.keys == ["enum"] ? "object" : .object(members)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral {
    /// A text.
    public init(stringLiteral text: String) { self = .string(text) }
}
