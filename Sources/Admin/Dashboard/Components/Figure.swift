// SPDX-License-Identifier: Apache-2.0

/// One number with its name and a link to its details.
struct Figure: Sendable {
    /// How the number is meant.
    enum Tone: String, Sendable {
        case plain = "card"
        case bad = "card bad"
        case warning = "card warn"
    }

    let value: String
    let label: String
    let href: String
    var tone = Tone.plain

    /// Adds a row of figures.
    static func write(_ figures: [Figure], to html: inout HTML) {
        html.element("div", ["class": "cards"]) { html in
            for figure in figures {
                html.element("div", ["class": figure.tone.rawValue]) { html in
                    html.element("b", figure.value)
                    html.element("a", ["href": figure.href], figure.label)
                }
            }
        }
    }
}
