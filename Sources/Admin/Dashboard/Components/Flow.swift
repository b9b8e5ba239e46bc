// SPDX-License-Identifier: Apache-2.0

/// A picture of a chain or batch as SVG: the steps of a chain from left to right, and parallel members above each other.
///
/// Each step is an SVG of a fixed size, so texts keep their size, and in a narrow window the steps wrap like words. A
/// state has a colour, a sign and a word. Screen readers and the keyboard use the tree below the picture, which has the
/// same jobs.
struct Flow {
    /// The chain or batch, with its members.
    let root: Tree.Node

    /// The size of a box in pixels.
    private static let width = 156, height = 40
    /// The length of an arrow, the distance between boxes, and the height of the title of a frame.
    private static let arrow = 22, gap = 6, titleHeight = 20
    /// The distance between the steps of a chain in a frame, with an arrow.
    private static let stepGap = 18
    /// How many characters of a name fit into a box.
    private static let mostCharacters = 17

    private var isChain: Bool { root.kind == "chain" }

    /// Whether there are steps or members of members. The picture of a batch of requests would only repeat its list.
    private var isUseful: Bool { root.children.contains { isChain || !$0.children.isEmpty } && root.children.count > 1 }

    /// Adds the picture if it shows more than the tree.
    func write(to html: inout HTML) {
        guard isUseful else { return }
        html.element("div", ["class": isChain ? "flow" : "flow parallel", "aria-hidden": "true"]) { html in
            for (index, entry) in root.children.enumerated() {
                write(entry, arrow: isChain && index > 0, to: &html)
            }
        }
    }

    /// One member of the root with its own members.
    private func write(_ entry: Tree.Entry, arrow hasArrow: Bool, to html: inout HTML) {
        let inner = entry.children
        let count = inner.count
        let left = hasArrow ? Flow.arrow : 0
        let frame = count > 0 ? Flow.gap : 0
        let width = left + Flow.width + 2 * frame
        let pitch = Flow.height + (entry.isChain ? Flow.stepGap : Flow.gap)
        let height = count > 0 ? Flow.titleHeight + (count - 1) * pitch + Flow.height + Flow.gap : Flow.height
        html.element("svg", ["width": "\(width)", "height": "\(height)"]) { html in
            if hasArrow { Flow.arrow("M2 \(height / 2)H\(left - 3)m-6 -4l6 4l-6 4", to: &html) }
            guard count > 0, case .node(let node) = entry else {
                return box(entry, x: left, y: 0, to: &html)
            }
            self.frame(node, x: left, width: width - left, height: height, to: &html)
            for (place, member) in inner.enumerated() {
                let top = Flow.titleHeight + place * pitch
                if entry.isChain && place > 0 {
                    Flow.arrow("M\(left + frame + 15) \(top - 17)v15m-4 -5l4 5l4 -5", to: &html)
                }
                box(member, x: left + frame, y: top, to: &html)
            }
        }
    }

    /// The frame around the members of a batch or chain, with its title.
    private func frame(_ node: Tree.Node, x: Int, width: Int, height: Int, to html: inout HTML) {
        html.element("a", Flow.link(node)) { html in
            html.element("title", "\(node.words): \(node.progress?.words ?? node.state)")
            html.element("rect", Flow.outline(x: x, y: 0, width: width, height: height)) { _ in }
            Flow.sign(node.state, x: x + 9, y: 5, to: &html)
            let progress = node.progress.map { ": \($0.ended) of \($0.all)" } ?? ""
            let name = Flow.cut(node.name ?? node.kind, Flow.mostCharacters + 3 - progress.count)
            Flow.text(name + progress, style: "note", x: x + 26, y: 1, width: width - 30, to: &html)
        }
    }

    /// The box of one job, or of jobs that are left out.
    private func box(_ entry: Tree.Entry, x: Int, y: Int, to html: inout HTML) {
        let (attributes, title, first, second): (KeyValuePairs<StaticString, String>, String, String, String)
        var state: String?
        switch entry {
        case .more(let words, let path, let count):
            let label = count.map { "\(Column.grouped("\($0)")) more" } ?? words
            (attributes, title, first, second) =
                (["class": "box more", "href": path, "tabindex": "-1"], words, label, "")
        case .node(let node):
            state = node.state
            let outcome = Flow.outcome(node)
            (attributes, title, first, second) =
                (Flow.link(node), "\(node.id) \(node.words): \(outcome)", Flow.label(node), outcome)
        }
        html.element("a", attributes) { html in
            html.element("title", title)
            html.element("rect", Flow.outline(x: x, y: y, width: Flow.width, height: Flow.height)) { _ in }
            if let state { Flow.sign(state, x: x + 9, y: y + 14, to: &html) }
            let top = second.isEmpty ? y + 10 : y + 2
            Flow.text(first, style: "name", x: x + 28, y: top, width: Flow.width - 32, to: &html)
            Flow.text(second, style: "note", x: x + 28, y: y + 18, width: Flow.width - 32, to: &html)
        }
    }

    // MARK: Parts

    private static func link(_ node: Tree.Node) -> KeyValuePairs<StaticString, String> {
        [
            "class": "box \(node.state)\(node.isHere ? " here" : "")", "href": "/jobs/\(node.id)", "tabindex": "-1",
        ]
    }

    private static func arrow(_ path: String, to html: inout HTML) {
        html.element("path", ["class": "arrow", "d": path]) { _ in }
    }

    /// Half a pixel from the edge, so that the line is sharp.
    private static func outline(x: Int, y: Int, width: Int, height: Int) -> KeyValuePairs<StaticString, String> {
        [
            "x": "\(x + 1)", "y": "\(y + 1)", "width": "\(width - 2)", "height": "\(height - 2)", "rx": "5",
        ]
    }

    /// A text that is cut at the width of its own SVG.
    private static func text(
        _ text: String, style: StaticString, x: Int, y: Int, width: Int, to html: inout HTML
    ) {
        html.element("svg", ["x": "\(x)", "y": "\(y)", "width": "\(width)", "height": "20"]) { html in
            html.element("text", ["class": "\(style)", "y": "14"], text)
        }
    }

    /// The name of a job, otherwise its method and path.
    private static func label(_ node: Tree.Node) -> String {
        if let name = node.name { return cut(name, mostCharacters) }
        return node.call.map(shortened) ?? node.kind
    }

    private static func cut(_ text: String, _ count: Int) -> String {
        text.count > count ? text.prefix(max(count - 1, 1)) + "…" : text
    }

    /// `GET https://host/path?query` without the host and the query. Calls differ most at the end of a long
    /// path, so its end is kept.
    private static func shortened(_ call: String) -> String {
        guard let scheme = call.firstRange(of: "://") else { return call }
        let method = call[..<scheme.lowerBound].prefix { $0 != " " }
        let path = call[scheme.upperBound...].drop { $0 != "/" }.prefix { $0 != "?" }
        let room = mostCharacters - method.count - 2
        return "\(method) " + (path.count > room ? "…" + path.suffix(max(room - 1, 1)) : path)
    }

    /// The state in words, with the error or the progress.
    private static func outcome(_ node: Tree.Node) -> String {
        if let error = node.error { return "\(node.state): \(error)" }
        if let progress = node.progress { return progress.words }
        return node.isCached ? "\(node.state), from cache" : node.state
    }

    /// A sign for the state, in 12 × 12 pixels, because colours alone are not enough.
    private static func sign(_ state: String, x: Int, y: Int, to html: inout HTML) {
        let shape =
            switch state {
            case "succeeded": "m0 6l4 5l8 -10"
            case "failed", "expired", "unknown": "m1 1l10 10m0 -10l-10 10"
            case "running": "m2 0l9 6l-9 6z"
            case "scheduled": "m6 1v5h4m2 0a6 6 0 1 1 -12 0a6 6 0 1 1 12 0"
            case "ready": "m3 1l6 5l-6 5"
            case "cancelled", "skipped": "m0 6h12"
            default: "m0 6h2m3 0h2m3 0h2"
            }
        html.element("path", ["class": "sign", "d": "M\(x) \(y)\(shape)"]) { _ in }
    }
}

extension Tree.Entry {
    fileprivate var isChain: Bool {
        if case .node(let node) = self { return node.kind == "chain" }
        return false
    }

    /// The members of a batch or chain.
    fileprivate var children: [Tree.Entry] {
        if case .node(let node) = self { return node.children }
        return []
    }
}
