// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

struct ContentTypeTests {
    @Test(arguments: [
        ("content-type: text/xml; charset=utf-8\n", "utf-8"),
        ("content-type: text/xml;Charset=\"ISO-8859-1\"\n", "iso-8859-1"),
        ("content-type: text/xml; CHARSET = utf-16 ; x=y\r\n", "utf-16"),
        ("content-type: a/b; x=\"; charset=a\"; charset=b\n", "b"),
        ("content-type: a/b; charset=b; charset=c\n", "b"),
        ("content-type: a/b; charset=a\nx: y\ncontent-type: a/b; charset=z\n", "z"),
        ("content-type: a/b\n", nil), ("content-type: a/b; charset=\n", nil),
        ("content-type: a/b; charset='utf-8'\n", "utf-8"),
        ("content-type: a/b; charset=\u{FF}\n", nil), ("content-type: a/b; charset=\"x\n", "x"),
        ("content-type:\n", nil),
    ])
    func `the charset is the first charset parameter of the last Content-Type header`(block: String, charset: String?) {
        #expect(ContentType(of: [UInt8](block.utf8))?.charset == charset)
    }

    @Test func `an answer without a Content-Type header has no content type`() {
        #expect(ContentType(of: []) == nil)
        #expect(ContentType(of: [UInt8]("x-content-type: a/b; charset=a\n".utf8)) == nil)
    }
}
