// SPDX-License-Identifier: Apache-2.0

extension OperationReader {
    /// A property of an object that is sent as a body.
    private struct Property {
        var name: String
        var schema: Schema
        var isRequired: Bool
        var pointer: [String]
    }

    /// Adds the body. The first of JSON, form and multipart that the operation accepts is taken.
    mutating func addBody(
        _ operation: JSONObject, _ method: String, _ spec: inout JSONObject, _ headers: inout JSONObject
    ) throws(Refusal) {
        guard let given = operation["requestBody"] else { return }
        let body: JSONValue
        do throws(OpenAPIDocument.ReferenceDefect) {
            body = try document.resolve(given)
        } catch {
            throw Refusal(reason: "needs a body that \(error.rawValue)")
        }
        let isRequired = body.isTrue("required")
        let pointer = place + ["requestBody"]
        let before = self
        do throws(Refusal) {
            if method == "head" { throw Refusal(reason: "a HEAD request cannot send") }
            try addContent(body["content"]?.object ?? [:], isRequired, pointer, &spec, &headers)
        } catch {
            if isRequired { throw Refusal(reason: "needs a body that \(error.reason)") }
            // Without the arguments that it has already added.
            self = before
            note(.part, pointer, "body: \(error.reason)")
        }
    }

    private mutating func addContent(
        _ content: JSONObject, _ isRequired: Bool, _ pointer: [String], _ spec: inout JSONObject,
        _ headers: inout JSONObject
    ) throws(Refusal) {
        func type(_ fits: (String) -> Bool) -> String? { content.keys.first { fits(MediaType.essence($0)) } }
        let json = type { $0 == "application/json" } ?? type(MediaType.isJSON)
        let form = type { $0 == "application/x-www-form-urlencoded" }
        let parts = type { $0 == "multipart/form-data" }
        guard let name = json ?? form ?? parts ?? type({ $0 == "*/*" || $0 == "application/*" }),
            let media = content[name]
        else {
            let list = content.keys.prefix(3).joined(separator: ", ")
            throw Refusal(reason: list.isEmpty ? "has no content" : "is \(list)")
        }
        let schema = schemas.schema(media["schema"] ?? .null)
        let place = pointer + ["content", name, "schema"]
        if name == form || name == parts {
            // Some files give each operation a form with no field, which sends nothing.
            if !isRequired, media["schema"]?["properties"] == [:], media["schema"]?["additionalProperties"] == nil {
                return
            }
            guard schema.kind == .object, !schema.properties.isEmpty else {
                throw Refusal(reason: "is a form without properties")
            }
            let properties = properties(schema, place)
            if name == form {
                try addForm(properties, media["encoding"], &spec)
            } else {
                try addParts(properties, media["encoding"], &spec)
            }
            return
        }
        let essence = MediaType.essence(name)
        if essence != "application/json", MediaType.isJSON(essence) { headers["Content-Type"] = .string(essence) }
        guard schema.kind == .object, !schema.properties.isEmpty else {
            let type = schemas.shape(schema, isAnswer: false) ?? "any"
            spec["body_json"] = .string(argument("body", type, isOptional: !isRequired))
            return
        }
        var object = JSONObject()
        for property in properties(schema, place) {
            let type = schemas.argumentType(property.schema)
            object[property.name] = .string(argument(property.name, type, isOptional: !property.isRequired))
        }
        spec["body_json"] = .object(object)
    }

    /// The properties without those that only an answer has. The object is always sent, so the required ones are required
    /// even if the body is optional.
    private func properties(_ schema: Schema, _ place: [String]) -> [Property] {
        let unknown = schema.required.sorted().filter { schema.properties[$0] == nil }
        return (schema.properties.keys + unknown).map { name in
            Property(
                name: name, schema: schemas.schema(schema.properties[name] ?? .null),
                isRequired: schema.required.contains(name), pointer: place + ["properties", name])
        }.filter { !$0.schema.isReadOnly }
    }

    /// Leaves a property out, or the whole body if the property is required.
    private mutating func leaveOut(_ property: Property, _ reason: String) throws(Refusal) {
        if property.isRequired { throw Refusal(reason: "has the property \(property.name), which \(reason)") }
        note(.part, property.pointer, "\(property.name): \(reason)")
    }

    /// A form. Its lists and objects are written with brackets, which is OpenAPI's style deepObject.
    private mutating func addForm(
        _ properties: [Property], _ encoding: JSONValue?, _ spec: inout JSONObject
    ) throws(Refusal) {
        var form = JSONObject()
        for property in properties {
            let style = encoding?[property.name]?["style"]?.string ?? "form"
            let isList = property.schema.kinds?.contains(.array) ?? false
            let isObject = property.schema.kinds?.contains(.object) ?? false
            let isJoined = encoding?[property.name]?["explode"] == .bool(false)
            var name = property.name
            var type = schemas.argumentType(property.schema)
            if style != "deepObject" {
                if isList, name.hasSuffix("[]") {
                    name = String(name.dropLast(2))
                } else if property.schema.kind == .array, isJoined {
                    note(.note, property.pointer, "\(name): is one text, with , between the elements")
                    type = "string"
                } else if isObject || isList {
                    try leaveOut(property, "is \(isObject ? "an object" : "a list") in a form without deepObject")
                    continue
                }
            }
            form[name] = .string(argument(property.name, type, isOptional: !property.isRequired))
        }
        spec["body_form"] = .object(form)
    }

    /// A multipart body. Bytes are base64 texts, and objects are JSON.
    private mutating func addParts(
        _ properties: [Property], _ encoding: JSONValue?, _ spec: inout JSONObject
    ) throws(Refusal) {
        var parts: [JSONValue] = []
        for property in properties {
            var part: JSONObject = ["name": .string(property.name)]
            let given = encoding?[property.name]?["contentType"]?.string.flatMap { $0.contains(",") ? nil : $0 }
            if let given, !given.contains("*") { part["type"] = .string(given) }
            if property.schema.kinds?.contains(.array) ?? false {
                try leaveOut(property, "is a list in a multipart body")
                continue
            }
            if property.schema.isBinary {
                part["base64"] = .string(argument(property.name, "string", isOptional: !property.isRequired))
                part["filename"] = .string(property.name)
            } else {
                if property.schema.kind == .object, part["type"] == nil { part["type"] = "application/json" }
                let type = schemas.argumentType(property.schema)
                part["content"] = .string(argument(property.name, type, isOptional: !property.isRequired))
            }
            parts.append(.object(part))
        }
        guard !parts.isEmpty else { throw Refusal(reason: "has no property that can be taken") }
        spec["body_parts"] = .array(parts)
    }
}

/// Media types such as `application/json; charset=utf-8`.
enum MediaType {
    /// The type without parameters, in small letters.
    static func essence(_ type: String) -> String {
        type.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
    }

    /// Whether a type without parameters is JSON.
    static func isJSON(_ essence: String) -> Bool {
        essence == "application/json" || essence == "text/json" || essence.hasSuffix("+json")
    }
}
