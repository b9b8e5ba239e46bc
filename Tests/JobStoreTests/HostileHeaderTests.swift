// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Headers that are made to be slow. One session judges all answers of a worker, so a hostile answer must not block it.
struct HostileHeaderTests {
    /// Runs a query as `judge` would. Fails if it takes 3 s.
    private func text(_ sql: String) throws -> String? {
        let queue = try TestQueue()
        try queue.connection.execute(
            "set statement_timeout = '3s'; set enable_hashjoin = off; set enable_mergejoin = off")
        return try queue.text(sql)
    }

    @Test(arguments: [
        (#"E'ETag:\t "a  b" \t\nx: y\netag: c\nxetag: d\n'"#, #""a  b", c"#), (#"E'etag:\nx: y\n'"#, ""),
        (#"E'x: etag: a\n'"#, nil), (#"'etag: ' || repeat('a', 8000) || E'\n'"#, "8000"),
        (#"'etag: ' || repeat('a', 8001) || E'\n'"#, nil),
        (#"'etag: a' || repeat(' ', 100000) || E'b\n'"#, nil), (#"'etag: a' || repeat(' ', 100000) || E'\n'"#, "a"),
        (#"repeat('etag: a' || repeat(' ', 1000) || E'b\n', 200)"#, nil),
        (#"repeat('a', 100000) || repeat(E'\netag', 20000) || E'\n'"#, nil),
    ])
    func `header_value finds and trims a header within 3 seconds even in hostile lines`(
        lines: String, expected: String?
    )
        throws
    {
        let value = "postrider_internal.header_value(convert_to(\(lines), 'LATIN1'), 'etag')"
        #expect(
            try text("select case when length(v) < 1000 then v else length(v)::text end from (select \(value) as v) x")
                == expected)
    }

    @Test func `content_type returns the hundredth of 100,000 content-type lines within 3 seconds`() throws {
        let lines = "string_agg(E'content-type: ' || i || E'\\n', '' order by i)"
        #expect(
            try text(
                "select postrider_internal.content_type(convert_to(\(lines), 'LATIN1')) from generate_series(1, 100000) i"
            )
                == "100"
        )
    }

    @Test func `cache_merge merges two blocks of thousands of header lines within 3 seconds`() throws {
        func lines(_ name: String) -> String {
            "select convert_to(string_agg(format(E'\(name)%s: \(name)\\n', i), ''), 'LATIN1') from generate_series(1, 4000) i"
        }
        let merged = try text(
            """
            select (octet_length(postrider_internal.cache_merge(a, b)) - octet_length(a) - octet_length(b))::text
              from (select (\(lines("kept"))) || convert_to(E'same: old\\ndate: x\\n', 'LATIN1'),
                           (\(lines("new"))) || convert_to(E'same: new\\n', 'LATIN1')) as x(a, b)
            """)
        #expect(merged == "-\("same: old\ndate: x\n".utf8.count)")
    }
}
