// SPDX-License-Identifier: Apache-2.0

/// Jobs as nested lists: a batch or chain with members below it.
struct Tree {
    /// One job of the tree.
    struct Node: Sendable {
        let id: Int64
        /// `request`, `batch` or `chain`.
        let kind: String
        let name: String?
        /// Method and URL of a request, secrets masked.
        let call: String?
        let state: String
        /// Whether the answer came from the cache.
        var isCached = false
        /// The place among the members of its parent; nil: a root.
        var position: Int32?
        /// Why it failed; nil: it did not.
        var error: String?
        var progress: ProgressBar?
        /// Whether this is the job of the page.
        var isHere = false
        var children: [Entry] = []

        /// Its name, and its call or its kind.
        var words: String { [name, call ?? kind].compactMap(\.self).joined(separator: " ") }
    }

    /// A job, or jobs that are left out.
    enum Entry: Sendable {
        case node(Node)
        /// The words for members that are not shown, the path of a list with them, and their number if it is known.
        case more(words: String, path: String, count: Int64?)
    }

    let root: Node

    /// Adds the lists. At most twelve levels are nested: `JobTree` reads no more.
    func write(to html: inout HTML) {
        html.element("ul", ["class": "tree"]) { write(.node(root), to: &$0) }
    }

    private func write(_ entry: Entry, to html: inout HTML) {
        switch entry {
        case .more(let words, let path, _):
            html.element("li", ["class": "more"]) { $0.element("a", ["href": path], words) }
        case .node(let node):
            html.element("li") { html in
                html.element("div", node.isHere ? ["class": "here", "aria-current": "true"] : [:]) { html in
                    write(node, to: &html)
                }
                guard !node.children.isEmpty else { return }
                html.element("ul") { html in
                    for child in node.children { write(child, to: &html) }
                }
            }
        }
    }

    private func write(_ node: Node, to html: inout HTML) {
        if let position = node.position { html.element("span", ["class": "place"], "\(position)") }
        if node.isHere {
            html.element("b", "\(node.id)")
        } else {
            html.element("a", ["href": "/jobs/\(node.id)"], "\(node.id)")
        }
        html.element("span", ["class": "state \(node.state)"], node.state)
        html.element("code", node.words)
        if let progress = node.progress {
            progress.write(to: &html)
            html.element("span", ["class": "note"], progress.words)
        }
        if let error = node.error { html.element("span", ["class": "trouble"], error) }
    }
}
