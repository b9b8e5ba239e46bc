// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// HTML markup, and the escaping of values in it.
struct HTMLTests {
    @Test func `text and attribute values are escaped, and attribute names are not`() {
        var html = HTML()
        html.element("a", ["href": "/?a=1&b='\"<x>"]) { $0.text("<b>&\"'\u{0}\u{202e}\n") }
        html.open("input", ["required": ""])
        #expect(
            html.markup
                == "<a href=\"/?a=1&amp;b=&#39;&quot;&lt;x&gt;\">&lt;b&gt;&amp;&quot;&#39;\\u{0}\\u{202e}\n</a><input required=\"\">"
        )
    }

    @Test(
        arguments: [
            (0, "0 ms"), (0.0404, "40 ms"), (0.9994, "999 ms"), (0.9996, "1.0 s"), (9.949, "9.9 s"), (9.96, "10 s"),
            (119.4, "119 s"), (119.6, "2 min"), (7169, "119 min"), (7171, "2 h"), (170_999, "47 h"), (171_001, "2 d"),
            (-59, "59 s"), (.infinity, "ever"), (-.infinity, "ever"),
        ] as [(Double, String)])
    func `a time span is shown as a number and a unit`(seconds: Double, words: String) {
        #expect(Span.words(seconds) == words)
    }

    @Test(arguments: [(0.4, "now"), (-0.4, "now"), (3, "3.0 s ago"), (-3600, "in 60 min")] as [(Double, String)])
    func `a moment is shown as its distance from now`(seconds: Double, words: String) {
        #expect(Span.words(ago: seconds) == words)
    }

    @Test(arguments: [
        ("0", "0"), ("9999", "9999"), ("10000", "10\u{2009}000"), ("1234567", "1\u{2009}234\u{2009}567"),
        ("12345.5", "12\u{2009}345.5"), ("-12345", "-12345"), ("abc12345", "abc12345"),
    ])
    func `numbers of five or more digits are grouped by thousands`(number: String, shown: String) {
        #expect(Column.grouped(number) == shown)
    }

    @Test(arguments: [
        (Column.Kind.text, "<b>", "&lt;b&gt;"), (.state, "failed", "<span class=\"state failed\">failed</span>"),
        (.job, "17", "<a href=\"/jobs/17\">17</a>"),
        (.queue, "a&b <x>", "<a href=\"/jobs?queue=a%26b%20%3Cx%3E\">a&amp;b &lt;x&gt;</a>"),
        (.moment, "2026-01-02 03:04:05|-60.2", "<time title=\"2026-01-02 03:04:05 UTC\">in 60 s</time>"),
        (.instant, "2026-01-02 03:04:05|-60.2", "2026-01-02 03:04:05 UTC, in 60 s"),
        (.size, "1536", "1.5 kB"), (.size, "999", "999 B"), (.size, "12345678", "12.3 MB"), (.span, "1.25", "1.3 s"),
        (.number, "12345", "12\u{2009}345"), (.code, "GET /", "<code>GET /</code>"), (.text, "", ""),
    ])
    func `a column writes its value in the markup of its kind`(kind: Column.Kind, value: String, shown: String) {
        var html = HTML()
        Column("title", kind, "x").write(value, to: &html)
        #expect(html.markup == shown)
    }
}
