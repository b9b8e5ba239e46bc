// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// The kind of a body, by its bytes.
struct BodyKindTests {
    @Test(
        arguments: [
            ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0], "image/png", "png"),
            ([0xff, 0xd8, 0xff, 0xe0], "image/jpeg", "jpeg"),
            (Array("GIF89a...".utf8), "image/gif", "gif"), (Array("RIFFxxxxWEBPVP8".utf8), "image/webp", "webp"),
            (Array("<svg onload=alert(1)>".utf8), "text/plain; charset=utf-8", "txt"),
            (Array("<!doctype html><script>".utf8), "text/plain; charset=utf-8", "txt"),
            (Array("{\"a\": 1}".utf8), "application/json", "json"),
            (Array("{a}".utf8), "text/plain; charset=utf-8", "txt"),
            ([0x50, 0x4b, 3, 4, 0, 0], "application/octet-stream", "bin"),
            ([0xff, 0xfe, 0x41], "application/octet-stream", "bin"),
            ([], "text/plain; charset=utf-8", "txt"),
        ] as [([UInt8], String, String)])
    func `a download has a type that a browser does not run`(bytes: [UInt8], type: String, name: String) {
        let kind = BodyKind(bytes, isPart: false)
        #expect(kind.safeType == type && kind.fileExtension == name)
    }

    @Test func `a text may be cut within a character`() {
        let bytes = Array("aé".utf8).dropLast()
        #expect(BodyKind(Array(bytes), isPart: true) == .text("a"))
        #expect(BodyKind(Array(bytes), isPart: false) == .binary)
    }

    @Test func `a body that is not text is shown in hexadecimal`() {
        let bytes: [UInt8] = Array("<script>\u{1}".utf8) + [0xff]
        #expect(
            BodyView.hexadecimal(bytes[...])
                == "0000  3c 73 63 72 69 70 74 3e 01 ff                    <script>..")
        var html = HTML()
        BodyView(title: "body", bytes: bytes + [0], size: 11).write(to: &html)
        #expect(html.markup.contains("(11 bytes, not text)") && html.markup.contains("&lt;script&gt;"))
    }

    @Test func `an image becomes a data URL if it is whole`() {
        var html = HTML()
        let bytes: [UInt8] = Array("GIF89a\"><script>".utf8)
        BodyView(title: "body", bytes: bytes, size: bytes.count).write(to: &html)
        #expect(html.markup.contains("src=\"data:image/gif;base64,R0lGODlhIj48c2NyaXB0Pg==\""), "\(html.markup)")
        html = HTML()
        BodyView(title: "body", bytes: bytes, size: 9_000_000).write(to: &html)
        #expect(!html.markup.contains("<img") && html.markup.contains("larger than 512 KiB"))
    }
}
