// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The text of the bytes in an answer's headers.
struct HeaderTextTests {
    private static let database = Result { try TestQueue.makeDatabase() }

    /// A value as bytes in hexadecimal, and its text.
    @Test(arguments: [
        ("6162", "ab"), ("4ac3bc7267656e", "Jürgen"), ("4afc7267656e", "Jürgen"), ("e697a5e69cac", "日本"),
        ("f09f9880", "😀"),
        // Bytes that are not UTF-8 are read as Latin-1: an overlong form, a surrogate, a cut-off character, and the
        // byte FF.
        ("c0af", "À¯"), ("eda080", "í\u{A0}\u{80}"), ("e697", "æ\u{97}"), ("ff", "ÿ"),
        ("f4908080", "ô\u{90}\u{80}\u{80}"),
    ])
    func `a value that is valid UTF-8 is read as UTF-8, any other as Latin-1`(bytes: String, text: String) throws {
        let connection = try PGConnection(Self.database.get())
        // Each line is decoded separately. One of the other two lines is Latin-1 and one is UTF-8.
        let headers = "'\\x782d6e616d653a20\(bytes)0a782d6f746865723a20fc0a782d6d6f72653a20c3bc0a'::bytea"
        let read = try connection.query(
            """
            select postrider_internal.headers_json(\(headers)) #>> '{x-name,0}',
                   postrider_internal.header_value(\(headers), 'x-name'),
                   postrider_internal.headers_json(\(headers)) #>> '{x-other,0}', postrider_internal.headers_json(\(headers)) #>> '{x-more,0}'
            """)
        #expect((0..<4).map { read.text(0, $0) } == [text, text, "ü", "ü"])
    }

    @Test func `the next page's link keeps non-ASCII letters`() throws {
        let connection = try PGConnection(Self.database.get())
        let link = #"convert_to('link: </seite?name=Jürgen>; rel="next"' || chr(10), 'UTF8')"#
        #expect(try connection.query("select postrider_internal.link_next(\(link))").text(0, 0) == "/seite?name=Jürgen")
    }
}
