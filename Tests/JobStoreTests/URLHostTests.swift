// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The host that an INSERT reads from a URL.
struct URLHostTests {
    @Test func `a host has at most 253 characters, without its port and final dot`() throws {
        let queue = try TestQueue()
        let accepted = try queue.text(
            """
            select string_agg(format('%s%s', n, t), ' ' order by n, t) from generate_series(252, 255) n
            cross join unnest('{"",.,:8080,.:8080}'::text[]) t
            where (postrider_internal.url_defect('http://' || repeat('a', n) || t || '/')).reason is null
            """)
        #expect(accepted == "252 252. 252.:8080 252:8080 253 253. 253.:8080 253:8080")
        // The fast check for plain hosts must give the same results as the full check.
        try queue.insert(4, "url", "'http://' || repeat('a', 249 + i) || '/'")
        let error = #expect(throws: PGError.self) {
            try queue.insert(1, "url", "'http://' || repeat('a', 254) || '/'")
        }
        #expect(error?.sqlState?.rawValue == "PR001")
    }

    @Test func `job_lane and url_lane give the same lane for valid URLs`() throws {
        let queue = try TestQueue()
        let differing = try queue.rows(
            """
            select u, postrider_internal.job_lane(null, u), postrider_internal.url_lane(u)
            from unnest(array['http://h', 'http://h/', 'https://h/', 'HTTPS://H/', 'http://h:1/', 'http://h:080/',
                        'https://h:0443/',
              'http://h./', 'http://h.:81/', 'http://h..a/', 'http://a_b/', 'http://u:p@h/', 'http://@h/', 'http://u@h:81?q', 'http://h?a=/x/y',
              'http://h#/x', 'http://h:81#x', 'http://h:?x', 'http://[::1]/', 'http://[::1]:81/', 'http://[AB::1]', 'http://-h-/',
              'http://h:65535/x', 'http://127.0.0.1:5/', 'http://./']) u
            where (postrider_internal.url_defect(u)).reason is null and postrider_internal.job_lane(null, u) is distinct
              from postrider_internal.url_lane(u)
            """)
        #expect(differing == [])
    }
}
