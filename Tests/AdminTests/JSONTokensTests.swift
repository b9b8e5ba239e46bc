// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// The JSON tree of a body: which texts are JSON, and how a tree is written.
struct JSONTokensTests {
    @Test(arguments: [
        "{}", "[]", "[1, -2.5e3, true, false, null]", #"{"a": {"b": [{}, []]}, "c": "x\"y"}"#, " [\n\"é\"\t] ", "\"x\"",
    ])
    func `a valid JSON text has tokens and is not cut`(text: String) {
        #expect(JSONTokens(Array(text.utf8), isPart: false)?.isCut == false)
    }

    @Test(arguments: [
        "", "{", "[1,]", "{\"a\" 1}", "{a: 1}", "[1 2]", "[01x]", "nul", "[\"a\nb\"]", "[1]]", "{\"a\": 1]", "[1}",
        "{1: 2}",
        "[\"\\\"]", "<html>",
    ])
    func `a text that is not JSON has no tokens`(text: String) {
        #expect(JSONTokens(Array(text.utf8), isPart: false) == nil)
    }

    @Test func `the beginning of a JSON text is a tree up to the cut`() throws {
        let whole = Array(#"{"a": [1, 22], "b": "text", "c": {"d": 1}}"#.utf8)
        for count in 1..<whole.count {
            let json = try #require(JSONTokens(Array(whole.prefix(count)), isPart: true), "\(count)")
            #expect(json.isCut)
            let ends = json.tokens.filter { $0 == .end }.count
            let begins = json.tokens.filter { if case .begin = $0 { true } else { false } }.count
            #expect(ends == begins, "\(count)")
        }
        let json = try #require(JSONTokens(Array(whole.prefix(11)), isPart: true))
        #expect(
            json.tokens == [
                .begin(isObject: true, count: 1), .key("\"a\""), .begin(isObject: false, count: 1), .word("1"), .end,
                .end,
            ])
    }

    @Test func `a tree is neither deeper nor larger than a browser can bear`() throws {
        let deep = Array(String(repeating: "[", count: 100_000).utf8)
        #expect(JSONTokens(deep, isPart: true) == nil)
        let long = Array(("[" + String(repeating: "1,", count: 50_000) + "1]").utf8)
        let json = try #require(JSONTokens(long, isPart: false))
        #expect(json.isCut && json.tokens.count <= JSONTokens.mostValues + 2)
    }

    @Test(arguments: [
        (#""M\u00fcller""#, "\"Müller\""), (#""\ud83d\ude00!""#, "\"😀!\""), (#""\ud83d""#, #""\ud83d""#),
        (#""\\u00fc""#, #""\\u00fc""#), (#""\u0022\u000a""#, #""\u0022\u000a""#), (#""\u00f""#, #""\u00f""#),
    ])
    func `escaped letters are shown as letters, and escaped signs stay escaped`(text: String, shown: String) {
        #expect(JSONTokens(Array(text.utf8), isPart: false)?.tokens == [.text(shown)])
    }

    @Test func `the markup of a tree is balanced and escaped`() throws {
        let text = #"{"<b>": ["</script>", {}, [], {"x": null}], "n": 1.50}"#
        var html = HTML()
        JSONTree(json: try #require(JSONTokens(Array(text.utf8), isPart: false))).write(to: &html)
        for name in ["details", "ul", "li", "div", "summary", "span"] {
            let opens = html.markup.ranges(of: "<\(name)").count, closes = html.markup.ranges(of: "</\(name)>").count
            #expect(opens == closes && opens > 0, "\(name): \(html.markup)")
        }
        #expect(!html.markup.contains("<b>") && !html.markup.contains("</script>"))
        #expect(html.markup.contains("&lt;/script&gt;") && html.markup.contains("1.50"))
    }
}
