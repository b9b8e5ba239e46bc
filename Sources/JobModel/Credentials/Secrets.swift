// SPDX-License-Identifier: Apache-2.0

/// The secrets of one credential by name. The description shows none of the values.
public struct Secrets: Equatable, Sendable, CustomStringConvertible {
    private var values: [String: String]

    /// An empty set.
    public init() { values = [:] }

    /// Reads name, value, name, value, …; an odd last text is ignored.
    public init(pairs: [String]) {
        values = [:]
        for index in stride(from: 0, to: pairs.count - 1, by: 2) { values[pairs[index]] = pairs[index + 1] }
    }

    /// The secret of this name; an empty one counts as absent.
    public subscript(_ name: String) -> String? {
        get { values[name].flatMap { $0.isEmpty ? nil : $0 } }
        set { values[name] = newValue }
    }

    /// Whether the set is empty.
    public var isEmpty: Bool { values.isEmpty }

    /// The names, sorted.
    public var names: [String] { values.keys.sorted() }

    /// Name, value, name, value, …, sorted by name.
    public var pairs: [String] { values.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] } }

    /// The secret that is sent: the token, or the key of an API.
    public var token: String? { self["access_token"] ?? self["api_key"] }

    /// The text with `***` in place of each secret of more than three letters.
    public func masked(_ text: String) -> String {
        // The longest secret goes first, since a short one may be part of a long one. Texts of three letters occur in
        // many words.
        values.values.filter { $0.utf8.count > 3 }.sorted { $0.utf8.count > $1.utf8.count }
            .reduce(text) { ByteText.replace($1, with: "***", in: $0) }
    }

    /// The names, without the values.
    public var description: String { "Secrets(\(names.joined(separator: ", ")))" }

    /// The pairs as bytes: for each text its length in four bytes, big-endian, then its UTF-8.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for text in pairs {
            let count = UInt32(text.utf8.count)
            for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
            bytes += text.utf8
        }
        return bytes
    }

    /// Reads `encoded`; nil for anything else.
    public init?(encoded bytes: [UInt8]) {
        var pairs: [String] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 4 else { return nil }
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard rest.count >= count, let text = String(validating: rest.prefix(count), as: UTF8.self) else {
                return nil
            }
            pairs.append(text)
            rest = rest.dropFirst(count)
        }
        guard pairs.count.isMultiple(of: 2) else { return nil }
        self.init(pairs: pairs)
    }
}
