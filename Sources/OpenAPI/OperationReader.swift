// SPDX-License-Identifier: Apache-2.0

/// Turns one operation of a document into arguments and a spec.
struct OperationReader {
    /// Why an operation is left out.
    struct Refusal: Error {
        var reason: String
    }

    let document: OpenAPIDocument
    let schemas: SchemaReader
    let keys: Set<KeyPlace>
    /// The steps of the JSON pointer to the operation.
    let place: [String]
    private(set) var remarks: [ImportedAPI.Remark] = []
    private var arguments = JSONObject()
    private var names: Set<String> = []

    init(_ document: OpenAPIDocument, _ schemas: SchemaReader, keys: Set<KeyPlace>, place: [String]) {
        self.document = document
        self.schemas = schemas
        self.keys = keys
        self.place = place
    }

    /// The arguments and the spec.
    ///
    /// - Parameter shared: the parameters of the path item.
    mutating func read(
        _ path: String, _ method: String, _ operation: JSONObject, shared: [JSONValue]
    ) throws(Refusal) -> (arguments: JSONValue, spec: JSONValue) {
        let parameters = try self.parameters(operation["parameters"]?.elements ?? [], shared)
        var spec = JSONObject()
        spec["method"] = .string(method.uppercased())
        spec["url"] = .string(try url(path, parameters))
        var query = JSONObject(), headers = JSONObject()
        for parameter in parameters where parameter.place != "path" {
            guard let type = try type(of: parameter) else { continue }
            let text = JSONValue.string(argument(parameter.name, type, isOptional: !parameter.isRequired))
            if parameter.place == "query" { query[parameter.name] = text } else { headers[parameter.name] = text }
        }
        try addBody(operation, method, &spec, &headers)
        if method != "head" { addAnswer(operation, &spec, &headers) }
        for defect in schemas.defects { note(.note, place, defect) }
        if !query.isEmpty { spec["query"] = .object(query) }
        if !headers.isEmpty { spec["headers"] = .object(headers) }
        return (.object(arguments), .object(spec))
    }

    /// Adds an argument, and returns the text that stands for it in the spec.
    mutating func argument(_ name: String, _ type: JSONValue, isOptional: Bool) -> String {
        let unique = ArgumentName.unused(ArgumentName.clean(name), names)
        names.insert(unique)
        arguments[unique + (isOptional ? "?" : "")] = type
        return "{{arg.\(unique)}}"
    }

    /// Notes that a part of the operation is left out or changed.
    mutating func note(_ kind: ImportedAPI.Remark.Kind, _ place: [String], _ reason: String) {
        remarks.append(ImportedAPI.Remark(kind: kind, place: JSONPointer.text(place), reason: reason))
    }

    /// The path as a relative URL with arguments.
    ///
    /// `./` stands before a path whose first segment could be read as a scheme. It also stands before a path that is one
    /// whole argument, because such a URL could lead to any place of the service.
    private mutating func url(_ path: String, _ parameters: [Parameter]) throws(Refusal) -> String {
        var texts: [String: String] = [:]
        var url = ""
        // Some files tell operations with the same path apart by a fragment.
        var rest = path.prefix { $0 != "#" }.dropFirst()
        if rest.count + 1 < path.count { note(.note, place, "has a # in its path: it and the rest are not sent") }
        while let mark = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            url += ArgumentName.escaped(rest[..<mark])
            rest = rest[mark...]
            guard rest.first == "{", let end = rest.firstIndex(of: "}") else {
                throw Refusal(reason: "has a brace without its partner in its path")
            }
            let name = String(rest[rest.index(after: mark)..<end])
            rest = rest[rest.index(after: end)...]
            if texts[name] == nil { texts[name] = try pathArgument(name, parameters) }
            url += texts[name] ?? ""
        }
        url += ArgumentName.escaped(rest)
        for parameter in parameters where parameter.place == "path" && texts[parameter.name] == nil {
            note(.part, parameter.pointer, "\(parameter.name): is not in the path")
        }
        let first = url.prefix { $0 != "/" && $0 != "?" }
        let isWhole = texts.values.contains(url)
        return first.isEmpty || first.contains(":") || isWhole ? "./" + url : url
    }

    private mutating func pathArgument(_ name: String, _ parameters: [Parameter]) throws(Refusal) -> String {
        guard let parameter = parameters.first(where: { $0.place == "path" && $0.name == name }) else {
            note(.note, place, "\(name): is in the path but not in parameters, so it is a text")
            return argument(name, "string", isOptional: false)
        }
        return argument(name, try type(of: parameter) ?? "any", isOptional: false)
    }
}

/// Names of arguments, and texts of URLs.
enum ArgumentName {
    /// A name has at most this many characters.
    private static let longest = 63

    /// The name with `_` for all but letters and digits of ASCII.
    static func clean(_ name: String) -> String {
        let clean = name.unicodeScalars.map { scalar -> Character in
            scalar.isASCII && (scalar.properties.isAlphabetic || (0x30...0x39).contains(scalar.value))
                ? Character(scalar) : "_"
        }
        let isNumber = clean.first?.isNumber ?? true
        return String((isNumber ? "_" : "") + String(clean)).prefix(longest).description
    }

    /// The name, if necessary with a number at its end.
    static func unused(_ name: String, _ taken: Set<String>) -> String {
        guard taken.contains(name) else { return name }
        var number = 2
        while true {
            let numbered = name.prefix(longest - 8) + "_\(number)"
            if !taken.contains(String(numbered)) { return String(numbered) }
            number += 1
        }
    }

    /// A part of a path with all characters percent-encoded that a URL cannot have.
    static func escaped(_ text: Substring) -> String {
        var result = ""
        for byte in text.utf8 {
            if byte > 0x20, byte < 0x7F, !#""<>\^`|"#.utf8.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + String(repeating: "0", count: 2 - digits.count) + digits
            }
        }
        return result
    }
}
