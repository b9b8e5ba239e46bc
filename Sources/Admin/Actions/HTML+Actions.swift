// SPDX-License-Identifier: Apache-2.0

extension ActionLink {
    /// The path and query of the page that confirms the act.
    var href: String { Column.link("/act", [("do", act)] + target) }
}

extension HTML {
    /// Adds a paragraph with the links, or nothing without links.
    mutating func actions(_ links: [ActionLink]) {
        guard !links.isEmpty else { return }
        element("p", ["class": "actions"]) { html in
            for link in links { html.element("a", ["href": link.href], link.label) }
        }
    }
}
