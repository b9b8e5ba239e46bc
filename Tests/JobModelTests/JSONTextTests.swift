// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import JobModel

struct JSONTextTests {
    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("a\"b\\c", #"a\"b\\c"#), ("\n\r\t", #"\n\r\t"#),
        ("\u{0}\u{8}\u{1f}\u{7f}", "\\u0000\\u0008\\u001f\u{7f}"), ("\"\u{301}", "\\\"\u{301}"), ("é🚀", "é🚀"),
    ])
    func `quotes, backslashes and control characters are escaped`(text: String, escaped: String) {
        #expect(Array(JSONText.escaped(text).utf8) == Array(escaped.utf8))
        #expect(Array(JSONText.quoted(text).utf8) == Array("\"\(escaped)\"".utf8))
    }

    @Test func `a reader finds the text again`() throws {
        let text = String(String.UnicodeScalarView((0...0x2000).compactMap(Unicode.Scalar.init)))
        let read = try JSONDecoder().decode([String].self, from: Data("[\(JSONText.quoted(text))]".utf8))
        #expect(Array(read[0].utf8) == Array(text.utf8))
    }
}
