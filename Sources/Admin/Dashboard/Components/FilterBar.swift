// SPDX-License-Identifier: Apache-2.0

/// The form of a list's filters. Its fields are the arguments of the page's URL, so a filtered page can be shared.
///
/// The first fields are shown, the others after a click on “more filters”. Each filter that is set is also a link to the
/// page without it.
struct FilterBar: Sendable {
    /// One filter.
    struct Field: Sendable {
        enum Kind: Sendable {
            /// Any text.
            case text
            /// A whole number.
            case number(ClosedRange<Int>)
            /// A date, with or without a time of day, in UTC.
            case time
            /// One of these words.
            case choice([String])
        }

        /// The argument of the URL.
        let name: String
        /// The text that people read.
        let label: String
        let kind: Kind

        init(_ name: String, _ label: String, _ kind: Kind = .text) {
            self.name = name
            self.label = label
            self.kind = kind
        }
    }

    /// The path of the page.
    let path: String
    let fields: [Field]
    /// How many fields are always shown.
    let shown: Int
    /// The valid filters that are set.
    let values: [(String, String)]
    /// The names that fields with a text suggest.
    var suggestions = SuggestedNames()

    func write(to html: inout HTML) {
        html.element("form", ["class": "filter", "action": path]) { html in
            for field in fields.prefix(shown) { write(field, to: &html) }
            if fields.count > shown {
                let isSet = fields.dropFirst(shown).contains { value($0.name) != nil }
                html.element("details", isSet ? ["open": ""] : [:]) { html in
                    html.element("summary", "more filters")
                    html.element("div", ["class": "filter"]) { html in
                        for field in fields.dropFirst(shown) { write(field, to: &html) }
                    }
                }
            }
            html.element("button", "Show")
        }
        writeChips(to: &html)
    }

    private func value(_ name: String) -> String? { values.first { $0.0 == name }?.1 }

    private func writeChips(to html: inout HTML) {
        let set = fields.filter { value($0.name) != nil }
        guard !set.isEmpty else { return }
        html.element("p", ["class": "chips"]) { html in
            for field in set {
                let rest = values.filter { $0.0 != field.name }
                let label = "without the filter \(field.label) \(value(field.name) ?? "")"
                html.element("a", ["href": Column.link(path, rest), "aria-label": label]) { html in
                    html.text("\(field.label): \(value(field.name) ?? "")")
                    html.element("span", ["aria-hidden": "true"], " ×")
                }
            }
            if set.count > 1 { html.element("a", ["href": path], "no filter") }
        }
    }

    private func write(_ field: Field, to html: inout HTML) {
        html.element("label") { html in
            html.element("span", field.label)
            switch field.kind {
            case .choice(let words):
                html.element("select", ["name": field.name]) { html in
                    html.element("option", ["value": ""], "any")
                    for word in words {
                        html.element("option", word == value(field.name) ? ["selected": ""] : [:], word)
                    }
                }
            case .text: writeText(field, to: &html)
            case .number(let range):
                html.open(
                    "input",
                    [
                        "name": field.name, "type": "number", "min": "\(range.lowerBound)",
                        "max": "\(range.upperBound)", "value": value(field.name) ?? "",
                    ])
            case .time:
                html.open(
                    "input",
                    [
                        "name": field.name, "value": value(field.name) ?? "", "placeholder": "2026-01-31 18:00",
                        "autocomplete": "off",
                    ])
            }
        }
    }

    /// Adds a field for any text. With `autocomplete="off"`, some browsers would hide its suggestions.
    private func writeText(_ field: Field, to html: inout HTML) {
        let names = suggestions[field.name]
        guard !names.isEmpty else {
            return html.open(
                "input", ["name": field.name, "value": value(field.name) ?? "", "autocomplete": "off"])
        }
        let list = "names-\(field.name)"
        html.open("input", ["name": field.name, "value": value(field.name) ?? "", "list": list])
        html.element("datalist", ["id": list]) { html in
            for name in names { html.open("option", ["value": name]) }
        }
    }
}
