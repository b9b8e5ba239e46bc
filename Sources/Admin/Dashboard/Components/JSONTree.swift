// SPDX-License-Identifier: Apache-2.0

/// JSON as an indented tree, whose objects and arrays can be closed.
struct JSONTree {
    let json: JSONTokens

    /// Values that are nested deeper, or have more values, are closed at first.
    private static let openDepth = 3
    private static let openCount = 50

    /// Adds the tree. It writes without recursion, as `JSONTokens` reads.
    func write(to html: inout HTML) {
        var depth = 0
        // Whether each open object or array has values, and so its own list.
        var lists: [Bool] = []
        var key: String?
        html.open("div", ["class": "json"])
        for token in json.tokens {
            switch token {
            case .key(let name):
                key = name
                continue
            case .end:
                let hasList = lists.removeLast()
                if hasList {
                    html.close("ul")
                    html.close("details")
                }
                depth -= 1
                if depth > 0 { html.close("li") }
                continue
            default: break
            }
            if depth > 0 { html.open("li") }
            switch token {
            case .begin(let isObject, let count) where count > 0:
                let isOpen = depth < JSONTree.openDepth && count <= JSONTree.openCount
                html.open("details", isOpen ? ["open": ""] : [:])
                html.element("summary") { html in
                    write(key: key, to: &html)
                    let word = isObject ? "{…} " : "[…] "
                    html.element("span", ["class": "note"], word + (count == 1 ? "1 value" : "\(count) values"))
                }
                html.open("ul")
                lists.append(true)
                depth += 1
            case .begin(let isObject, _):
                write(key: key, to: &html)
                html.text(isObject ? "{}" : "[]")
                lists.append(false)
                depth += 1
            case .text(let text): write(key: key, value: text, "text", to: &html, closes: depth > 0)
            case .word(let word): write(key: key, value: word, "word", to: &html, closes: depth > 0)
            case .key, .end: break
            }
            key = nil
        }
        html.close("div")
    }

    private func write(key: String?, to html: inout HTML) {
        guard let key else { return }
        html.element("span", ["class": "key"], key)
        html.text(": ")
    }

    private func write(key: String?, value: String, _ kind: String, to html: inout HTML, closes: Bool) {
        write(key: key, to: &html)
        html.element("span", ["class": kind], value)
        if closes { html.close("li") }
    }
}
