// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// The picture of a chain or batch.
struct FlowTests {
    private static func node(
        _ id: Int64, _ state: String, kind: String = "request", name: String? = nil,
        call: String? = "GET https://h/a", error: String? = nil, all: Int64? = nil, _ children: [Tree.Entry] = []
    ) -> Tree.Node {
        Tree.Node(
            id: id, kind: kind, name: name, call: kind == "request" ? call : nil, state: state, error: error,
            progress: all.map { ProgressBar(ended: 1, failed: 0, all: $0) }, children: children)
    }

    private static func markup(_ root: Tree.Node) -> String {
        var html = HTML()
        Flow(root: root).write(to: &html)
        return html.markup
    }

    @Test func `a chain has its steps from left to right with arrows, and parallel members in one frame`() {
        var here = Self.node(4, "waiting", name: "last")
        here.isHere = true
        let batch = Self.node(
            2, "running", kind: "batch", name: "letters", all: 953,
            [
                .node(Self.node(5, "failed", name: "first", error: "timeout")), .node(Self.node(6, "running")),
                .more(words: "950 more members", path: "/jobs/2/members", count: 950),
            ])
        let page = Self.markup(
            Self.node(
                1, "running", kind: "chain", all: 3, [.node(Self.node(3, "succeeded")), .node(batch), .node(here)]))
        #expect(page.hasPrefix(#"<div class="flow" aria-hidden="true">"#), "\(page)")
        #expect(page.matches(of: /<svg width="\d+" height="\d+">/).count == 3)
        #expect(page.matches(of: /class="arrow"/).count == 2)
        for part in [
            #"<a class="box failed" href="/jobs/5" tabindex="-1">"#, ">failed: timeout</text>",
            ">letters: 1 of 953</text>",
            #"<a class="box more" href="/jobs/2/members" tabindex="-1">"#, ">950 more</text>", "box waiting here",
            ">GET /a</text>",
        ] { #expect(page.contains(part), "\(part) in \(page)") }
        #expect(!page.contains("style="))
    }

    @Test func `each state has a sign of its own, because colours alone are not enough`() {
        let states = ["succeeded", "failed", "running", "scheduled", "ready", "cancelled", "waiting"]
        let page = Self.markup(
            Self.node(
                1, "running", kind: "chain", all: 7,
                states.enumerated().map { .node(Self.node(Int64($0.offset + 2), $0.element)) }))
        let signs = page.matches(of: /class="sign" d="M[0-9 ]+([^"]*)"/).map { String($0.output.1) }
        #expect(Set(signs).count == states.count, "\(signs)")
    }

    @Test func `a batch of requests and a chain of one step have no picture`() {
        let requests: [Tree.Entry] = [.node(Self.node(2, "ready")), .node(Self.node(3, "ready"))]
        #expect(Self.markup(Self.node(1, "running", kind: "batch", all: 2, requests)).isEmpty)
        #expect(Self.markup(Self.node(1, "running", kind: "chain", all: 1, [requests[0]])).isEmpty)
        let chain = Self.node(4, "running", kind: "chain", all: 2, requests)
        let page = Self.markup(Self.node(1, "running", kind: "batch", all: 2, [.node(chain), requests[0]]))
        #expect(page.contains("flow parallel") && page.matches(of: /class="arrow"/).count == 1, "\(page)")
    }

    @Test func `a name cannot break out of the picture, and long ones are cut`() {
        let evil = #"</text></svg><script>alert(1)</script>"#
        let long = "https://api.example.com/" + String(repeating: "long/", count: 50) + "end?token=***"
        let page = Self.markup(
            Self.node(
                1, "running", kind: "chain", all: 2,
                [.node(Self.node(2, "ready", name: evil)), .node(Self.node(3, "ready", call: "POST \(long)"))]))
        #expect(!page.contains("<script") && page.contains("&lt;/text&gt;&lt;/svg&gt;"), "\(page)")
        #expect(page.contains(">POST …g/long/end</text>"), "\(page)")
    }
}
