// SPDX-License-Identifier: Apache-2.0

/// A text with a button that copies it. The script of the dashboard makes the button work.
struct CodeBlock {
    /// The name of the text, such as `curl`.
    let title: String
    let text: String
    /// A sentence below the text; nil: none.
    var note: String?

    /// Adds the figure. Its text can be scrolled by keyboard.
    func write(to html: inout HTML) {
        html.element("figure", ["class": "code-block"]) { html in
            html.element("figcaption") { html in
                html.element("span", title)
                CodeBlock.button(title, to: &html)
            }
            html.element("pre", ["tabindex": "0", "role": "region", "aria-label": title], text)
            if let note { html.element("p", ["class": "empty"], note) }
        }
    }

    /// Adds a button that copies the text of the `pre` in the same figure.
    static func button(_ title: String, to html: inout HTML) {
        html.element(
            "button", ["type": "button", "class": "copy", "data-copy": "", "aria-label": "Copy \(title)"], "Copy")
    }
}
