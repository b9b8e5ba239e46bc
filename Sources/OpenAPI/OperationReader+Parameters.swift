// SPDX-License-Identifier: Apache-2.0

extension OperationReader {
    /// A parameter of a path, query or header.
    struct Parameter {
        var name: String
        /// `path`, `query`, `header` or `cookie`.
        var place: String
        var isRequired: Bool
        var definition: JSONValue
        var pointer: [String]
    }

    /// Headers that the worker sets itself.
    private static let workerHeaders: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "expect", "te", "trailer", "upgrade", "keep-alive",
    ]

    /// The parameters of the path item and the operation. The operation's replace those with the same name and place.
    func parameters(_ own: [JSONValue], _ shared: [JSONValue]) throws(Refusal) -> [Parameter] {
        var found: [Parameter] = []
        for (list, steps) in [(shared, Array(place.dropLast())), (own, place)] {
            for (index, value) in list.enumerated() {
                let definition: JSONValue
                do throws(OpenAPIDocument.ReferenceDefect) {
                    definition = try document.resolve(value)
                } catch {
                    throw Refusal(reason: "parameter \(index) \(error.rawValue)")
                }
                guard let name = definition["name"]?.string, let position = definition["in"]?.string else {
                    throw Refusal(reason: "parameter \(index) has no name or no in")
                }
                let parameter = Parameter(
                    name: name, place: position, isRequired: definition.isTrue("required") || position == "path",
                    definition: definition, pointer: steps + ["parameters", String(index)])
                if let old = found.firstIndex(where: { $0.name == name && $0.place == position }) {
                    found[old] = parameter
                } else {
                    found.append(parameter)
                }
            }
        }
        return found
    }

    /// The type of the argument for a parameter. Nil: the parameter is left out.
    ///
    /// - Throws: the reason why a required parameter cannot be taken.
    mutating func type(of parameter: Parameter) throws(Refusal) -> JSONValue? {
        let name = parameter.name.lowercased()
        if parameter.place == "header", ["accept", "content-type", "authorization"].contains(name) {
            note(.part, parameter.pointer, "\(parameter.name): OpenAPI ignores a parameter of this name")
            return nil
        }
        if keys.contains(KeyPlace(place: parameter.place, name: name)) {
            note(.part, parameter.pointer, "\(parameter.name): the credential gives it")
            return nil
        }
        let isOfWorker = OperationReader.workerHeaders.contains(name) || name.hasPrefix("proxy-")
        if parameter.place == "header", isOfWorker {
            note(.part, parameter.pointer, "\(parameter.name): the worker sets this header itself")
            return nil
        }
        do throws(Refusal) {
            return try takenType(parameter)
        } catch {
            if parameter.isRequired {
                throw Refusal(reason: "needs the parameter \(parameter.name), which \(error.reason)")
            }
            note(.part, parameter.pointer, "\(parameter.name): \(error.reason)")
            return nil
        }
    }

    private mutating func takenType(_ parameter: Parameter) throws(Refusal) -> JSONValue {
        switch parameter.place {
        case "path", "query": break
        case "header":
            let isName = parameter.name.utf8.allSatisfy {
                "!#$%&'*+.^_`|~-0123456789".utf8.contains($0) || (0x41...0x5A).contains($0 & 0xDF)
            }
            if !isName || parameter.name.isEmpty { throw Refusal(reason: "is not a valid name of a header") }
        case "cookie": throw Refusal(reason: "is a cookie")
        default: throw Refusal(reason: "is in an unknown place")
        }
        guard let definition = parameter.definition["schema"] else {
            if parameter.definition["content"] != nil { throw Refusal(reason: "is written in a format of its own") }
            return "string"
        }
        do throws(OpenAPIDocument.ReferenceDefect) {
            _ = try document.resolve(definition)
        } catch {
            throw Refusal(reason: "has a schema that \(error.rawValue)")
        }
        let schema = schemas.schema(definition)
        let usual = parameter.place == "query" ? "form" : "simple"
        let style = parameter.definition["style"]?.string ?? usual
        guard let kinds = schema.kinds else {
            if style == "deepObject" { throw Refusal(reason: "has the style deepObject") }
            return "any"
        }
        var plain = schema
        if kinds.contains(.object) {
            let reason = style == "deepObject" ? "is an object in the style deepObject" : "is an object"
            guard kinds.count > 1 else { throw Refusal(reason: reason) }
            note(.note, parameter.pointer, "\(parameter.name): takes no object")
            plain.kinds = kinds.subtracting([.object])
        }
        if plain.kind == .array { return try listType(parameter, plain, style: style) }
        guard style == usual || parameter.place == "query" else {
            throw Refusal(reason: "has the style \(style)")
        }
        return schemas.argumentType(plain)
    }

    /// A list repeats its name in a query. In other forms it is one text that the caller joins.
    private mutating func listType(
        _ parameter: Parameter, _ schema: Schema, style: String
    ) throws(Refusal) -> JSONValue {
        let element = schemas.schema(schema.items ?? .null)
        if element.kind == .object || element.kind == .array { throw Refusal(reason: "is a list of objects or lists") }
        let mark: String
        switch (style, parameter.definition["explode"]) {
        case ("form", .bool(false)), ("simple", _): mark = ","
        case ("spaceDelimited", _): mark = "a space"
        case ("pipeDelimited", _): mark = "|"
        case ("form", _):
            return schemas.shape(schema, isAnswer: false) ?? "array"
        default: throw Refusal(reason: "is a list in the style \(style)")
        }
        note(.note, parameter.pointer, "\(parameter.name): is one text, with \(mark) between the elements")
        return "string"
    }
}
