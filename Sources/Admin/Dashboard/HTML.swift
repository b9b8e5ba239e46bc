// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Markup of a page. What is added as text or as the value of an attribute is escaped; names are the program's own.
struct HTML: Sendable {
    /// What was added so far.
    private(set) var markup = ""

    /// Adds an element and what it holds.
    mutating func element<Failure: Error>(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:],
        _ content: (inout HTML) throws(Failure) -> Void
    ) throws(Failure) {
        open(name, attributes)
        try content(&self)
        markup += "</\(name)>"
    }

    /// Adds an element that holds text.
    mutating func element(_ name: StaticString, _ text: String) {
        element(name, [:], text)
    }

    /// Adds an element with attributes that holds text.
    mutating func element(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String>, _ text: String) {
        element(name, attributes) { $0.text(text) }
    }

    /// Adds an element that holds nothing and has no end: `input`, `meta`.
    mutating func open(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String> = [:]) {
        markup += "<\(name)"
        for (key, value) in attributes { markup += " \(key)=\"\(HTML.escaped(value))\"" }
        markup += ">"
    }

    /// Adds text.
    mutating func text(_ text: String) {
        markup += HTML.escaped(text)
    }

    /// Adds the beginning of every document of HTML.
    mutating func doctype() {
        markup += "<!doctype html>"
    }

    /// Control characters and marks of direction are spelled out: a job's URL may hold them.
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
