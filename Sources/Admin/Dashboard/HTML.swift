// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The markup of a page. Texts and attribute values are escaped. Names of elements and attributes are literals of the
/// program, so they need no escaping.
struct HTML: Sendable {
    /// The markup so far.
    private(set) var markup = ""

    /// Adds an element with its content.
    mutating func element<Failure: Error>(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:],
        _ content: (inout HTML) throws(Failure) -> Void
    ) throws(Failure) {
        open(name, attributes)
        try content(&self)
        markup += "</\(name)>"
    }

    mutating func element(_ name: StaticString, _ text: String) {
        element(name, [:], text)
    }

    mutating func element(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String>, _ text: String) {
        element(name, attributes) { $0.text(text) }
    }

    /// Adds an empty element without an end tag, such as `input` or `meta`.
    mutating func open(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:]) {
        markup += "<\(name)"
        for (key, value) in attributes { markup += " \(key)=\"\(HTML.escaped(value))\"" }
        markup += ">"
    }

    /// Adds an end tag. It is for trees, which are written without recursion. Other markup uses `element`.
    mutating func close(_ name: StaticString) {
        markup += "</\(name)>"
    }

    mutating func text(_ text: String) {
        markup += HTML.escaped(text)
    }

    /// Adds the first line of an HTML document.
    mutating func doctype() {
        markup += "<!doctype html>"
    }

    /// Escapes text. Control characters and marks of direction become visible codes, because a job's URL may contain
    /// them.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in SanitizedText.escape(text, keepsLines: true).unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
