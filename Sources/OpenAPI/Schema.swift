// SPDX-License-Identifier: Apache-2.0

/// A JSON schema without references, `allOf`, `oneOf` and `anyOf`, as far as the import needs it.
struct Schema: Equatable {
    /// The types of an argument or validator.
    enum Kind: Hashable {
        case string, number, boolean, array, object
    }

    /// The kinds that a value may have. Nil: any.
    var kinds: Set<Kind>?
    /// The allowed values of a text; nil: all texts.
    var texts: [String]?
    /// The properties of an object, in their order.
    var properties = JSONObject()
    /// The names of required properties.
    var required: Set<String> = []
    /// The schema of the elements of an array.
    var items: JSONValue?
    /// Whether a text stands for bytes.
    var isBinary = false
    var isReadOnly = false
    var isWriteOnly = false

    /// The one kind, if there is exactly one.
    var kind: Kind? { kinds.flatMap { $0.count == 1 ? $0.first : nil } }

    /// A value must fit both schemas.
    func merged(with other: Schema) -> Schema {
        var result = self
        if let theirs = other.kinds {
            // If no kind is left, no value fits. Such a contradiction is a mistake of the file, so it allows both.
            let both = kinds.map { $0.intersection(theirs) } ?? theirs
            result.kinds = both.isEmpty ? kinds?.union(theirs) : both
        }
        if let theirs = other.texts {
            let both = texts.map { mine in mine.filter(theirs.contains) } ?? theirs
            result.texts = both.isEmpty ? nil : both
        }
        for (name, schema) in other.properties {
            let mine = result.properties[name]
            result.properties[name] =
                mine == nil || mine == schema ? schema : ["allOf": .array([mine ?? .null, schema])]
        }
        result.required.formUnion(other.required)
        result.items = items ?? other.items
        result.isBinary = isBinary || other.isBinary
        result.isReadOnly = isReadOnly || other.isReadOnly
        result.isWriteOnly = isWriteOnly || other.isWriteOnly
        return result
    }

    /// A value must fit one of the schemas.
    static func union(_ schemas: [Schema]) -> Schema {
        guard var result = schemas.first else { return Schema() }
        for other in schemas.dropFirst() {
            if let mine = result.kinds, let theirs = other.kinds {
                result.kinds = mine.union(theirs)
            } else {
                result.kinds = nil
            }
            if let mine = result.texts, let theirs = other.texts {
                result.texts = mine + theirs.filter { !mine.contains($0) }
            } else {
                result.texts = nil
            }
            for (name, schema) in other.properties {
                let mine = result.properties[name]
                result.properties[name] =
                    mine == nil || mine == schema ? schema : ["anyOf": .array([mine ?? .null, schema])]
            }
            result.required.formIntersection(other.required)
            result.items = result.items == other.items ? result.items : nil
            result.isBinary = result.isBinary && other.isBinary
            result.isReadOnly = result.isReadOnly && other.isReadOnly
            result.isWriteOnly = result.isWriteOnly && other.isWriteOnly
        }
        if result.kinds?.count != 1 { result.texts = nil }
        return result
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    /// An object with these members.
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        var object = JSONObject()
        for (key, value) in members { object[key] = value }
        self = .object(object)
    }
}
