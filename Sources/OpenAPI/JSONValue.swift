// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// A JSON value. Numbers keep their text, and objects keep the order of their keys.
public enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// The value as compact JSON.
    public var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): text
        case .string(let text): JSONText.quoted(text)
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ", ") + "]"
        case .object(let object):
            "{" + object.map { "\(JSONText.quoted($0.key)): \($0.value.text)" }.joined(separator: ", ") + "}"
        }
    }

    /// The object; nil for other values.
    var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

    /// The elements of an array; none for other values.
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

    /// The text of a string; nil for other values.
    var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The value of a key; nil if it is missing or this is no object.
    subscript(key: String) -> JSONValue? { object?[key] }

    /// Whether the value of a key is true.
    func isTrue(_ key: String) -> Bool { self[key] == .bool(true) }
}

/// The members of a JSON object in their order. If a key is written twice, the last value counts.
public struct JSONObject: Equatable, Sendable, Sequence, ExpressibleByDictionaryLiteral {
    /// The keys in their order.
    public private(set) var keys: [String] = []
    private var values: [String: JSONValue] = [:]

    /// An object without members.
    public init() {}

    /// An object with these members.
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        for (key, value) in members { self[key] = value }
    }

    /// Whether it has no members.
    public var isEmpty: Bool { keys.isEmpty }

    /// The value of a key. Nil: the key is missing.
    public subscript(key: String) -> JSONValue? {
        get { values[key] }
        set {
            let old = values.updateValue(newValue ?? .null, forKey: key)
            if newValue == nil {
                values[key] = nil
                keys.removeAll { $0 == key }
            } else if old == nil {
                keys.append(key)
            }
        }
    }

    /// The members in their order.
    public func makeIterator() -> AnyIterator<(key: String, value: JSONValue)> {
        var index = 0
        return AnyIterator {
            while index < keys.count {
                let key = keys[index]
                index += 1
                if let value = values[key] { return (key, value) }
            }
            return nil
        }
    }

    /// Equal if the members are equal in any order.
    public static func == (a: JSONObject, b: JSONObject) -> Bool { a.values == b.values }
}
