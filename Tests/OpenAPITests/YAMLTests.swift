// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OpenAPI

/// JSON and YAML become the same values.
struct YAMLTests {
    @Test(arguments: [
        ("a", #""a""#), ("", "null"), ("~", "null"), ("null", "null"), ("NULL", "null"), ("nULL", #""nULL""#),
        ("true", "true"), ("False", "false"), ("yes", #""yes""#), ("on", #""on""#), ("'true'", #""true""#),
        ("12", "12"), ("-0", "-0"), ("+12", "12"), ("007", "7"), ("0x1F", "31"), ("0o17", "15"), ("1_000", #""1_000""#),
        ("1.50", "1.50"), (".5", "0.5"), ("5.", "5"), ("1e3", "1e3"), ("-1.5E+10", "-1.5e+10"), (".", #""."# + "\""),
        (".inf", #"".inf""#), (".nan", #"".nan""#), ("1.2.3", #""1.2.3""#), ("2026-11-27", #""2026-11-27""#),
        ("'12'", #""12""#), (#""\u0041\n""#, #""A\n""#), ("!!str 12", #""12""#), ("!!int '12'", "12"),
        ("|\n  a\n  b\n", #""a\nb\n""#), (">-\n  a\n  b\n", #""a b""#), ("!local 12", "12"), (#""\0""#, "\"\u{FFFD}\""),
        ("٣", "\"٣\""),
    ])
    func `a scalar has the type of the core schema`(yaml: String, json: String) throws {
        #expect(try YAMLReader.read(Array(yaml.utf8)).text == json)
    }

    @Test(arguments: [
        ("a: 1\nb: [x, 'y']\n", #"{"a": 1, "b": ["x", "y"]}"#),
        ("200: ok\ntrue: no\n", #"{"200": "ok", "true": "no"}"#),
        ("- a\n-\n- {}\n", #"["a", null, {}]"#),
        ("a: &x {k: 1}\nb: *x\n", #"{"a": {"k": 1}, "b": {"k": 1}}"#),
        ("a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  l: 3\n", #"{"a": {"k": 1, "l": 2}, "b": {"l": 3, "k": 1}}"#),
        ("a: 1\nb: 2\na: 3\n", #"{"a": 3, "b": 2}"#),
        ("&k a: 1\nb: *k\n", #"{"a": 1, "b": "a"}"#),
        ("# only a comment\n", "null"), ("--- a\n...\n", #""a""#), ("\u{FEFF}a: b", #"{"a": "b"}"#),
    ])
    func `a document becomes JSON`(yaml: String, json: String) throws {
        #expect(try YAMLReader.read(Array(yaml.utf8)).text == json)
    }

    @Test(arguments: [
        ("a: b: c", 1, DocumentError.Code.syntax), ("a: *x", 1, .syntax), ("a: &x [*x]", 1, .syntax),
        ("a: 1\n\tb: 2", 2, .syntax), ("a\n---\nb", 2, .syntax), ("{[a]: b}", 1, .syntax), ("a: [1, 2", 2, .syntax),
    ])
    func `bad YAML names its line`(yaml: String, line: Int, code: DocumentError.Code) throws {
        let error = #expect(throws: DocumentError.self) { try YAMLReader.read(Array(yaml.utf8)) }
        #expect(error?.code == code)
        #expect(error?.line == line, "\(error?.reason ?? "")")
    }

    @Test func `aliases that multiply values end the reading`() {
        var yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...30 {
            let alias = "*a\(level - 1)"
            yaml += "a\(level): &a\(level) [\(Array(repeating: alias, count: 10).joined(separator: ", "))]\n"
        }
        let error = #expect(throws: DocumentError.self) { try YAMLReader.read(Array(yaml.utf8)) }
        #expect(error?.code == .limit)
    }

    @Test(arguments: ["[", "{\"a\": ", "- "])
    func `deep nesting ends the reading`(start: String) {
        let text = String(repeating: start, count: 100_000)
        #expect(throws: DocumentError.self) { try YAMLReader.read(Array(text.utf8)) }
        #expect(throws: DocumentError.self) { try JSONReader.read(Array(text.utf8)) }
    }

    @Test(arguments: [
        "null", "true", "12", "-0.5e+10", "\"a\"", "[]", "{}", #"{"a": [1, {"b": null}], "c": "d"}"#, #""\"\\\n""#,
        "\"é😀\"",
    ])
    func `JSON stays the same`(json: String) throws {
        #expect(try JSONReader.read(Array(json.utf8)).text == json)
        #expect(try YAMLReader.read(Array(json.utf8)).text == json)
    }

    @Test(arguments: [
        "", "[1,]", "{,}", "{\"a\"}", "{a: 1}", "01", "+1", "1.", ".5", "tru", "\"a", "\"\\x\"", "\"\n\"", "[1] 2",
        "NaN",
        "\"\\u12\"", "\u{1}", "'a'", "[1 2]", "{\"a\": 1 \"b\": 2}",
    ])
    func `bad JSON is refused`(json: String) {
        #expect(throws: DocumentError.self) { try JSONReader.read(Array(json.utf8)) }
    }

    @Test func `escapes and surrogates become text`() throws {
        let json = #""\u00e9\ud83d\ude00\/\b\f\r\t\ud800x\u0000""#
        #expect(try JSONReader.read(Array(json.utf8)) == .string("é😀/\u{8}\u{c}\r\t\u{FFFD}x\u{FFFD}"))
    }

    @Test(arguments: [#""\u+041""#, #""\u-041""#, #""\u41""#])
    func `an escape without four hexadecimal digits is no JSON`(json: String) {
        #expect(throws: DocumentError.self) { try JSONReader.read(Array(json.utf8)) }
    }
}
