// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

/// Text from other systems, in the form in which Postrider shows it.
struct SanitizedTextTests {
    @Test(arguments: [
        ("plain é 日本", "plain é 日本"), ("a\u{1b}[2J", "a\\u{1b}[2J"), ("a\u{0}b", "a\\u{0}b"),
        ("safe\u{202e}gpj.exe", "safe\\u{202e}gpj.exe"), ("a\u{2028}b", "a\\u{2028}b"), ("a\nb\tc", "a\\u{a}b\\u{9}c"),
    ])
    func `terminal control and text direction characters are escaped`(text: String, shown: String) {
        #expect(SanitizedText.escape(text) == shown)
    }

    @Test func `line breaks and tabs are kept on request`() {
        #expect(SanitizedText.escape("a\nb\tc\r\u{1b}", keepsLines: true) == "a\nb\tc\\u{d}\\u{1b}")
    }

    @Test(
        arguments: [
            ([0xFF, 0x00], 2, "(2 bytes, not text)"), ([0x68, 0x69], 2, "hi"), ([], 0, ""),
            ([0x61, 0x62, 0x63, 0x64, 0x65], 5, "abcd… (5 bytes)"), ([0x61, 0x62], 100, "ab… (100 bytes)"),
            // The bytes end inside a character.
            ([0x61, 0xE6, 0x97], 100, "a… (100 bytes)"), ([0xE6, 0x97], 2, "(2 bytes, not text)"),
            ([0x61, 0xFF, 0x61, 0x61, 0x61, 0x61], 100, "(100 bytes, not text)"),
        ] as [([UInt8], Int, String)])
    func `a body is shown as shortened text, or by its size if it is binary`(bytes: [UInt8], size: Int, shown: String) {
        #expect(SanitizedText.body(bytes, size: size, limit: 4) == shown)
    }
}
