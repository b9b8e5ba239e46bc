// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Pages of the dashboard with much content.
struct LongPagesTests {
    @Test func `the overview counts all queues, and a table of 200 rows says there are more`() throws {
        let queue = try TestQueue()
        try queue.insert(230, "url, queue", "'http://h/', 'q' || i")
        try queue.connection.execute("select postrider.pause_queue('q' || i) from generate_series(1, 230) i")
        let watched = try WatchedWorker(queue.database)
        let page = try watched.pages.read("/").lines.joined()
        #expect(page.contains("<b>230</b><a href=\"/jobs?state=ready\">"), "\(page)")
        #expect(page.contains("The first 200 rows; there are more."))
    }

    @Test func `a list of lanes has pages, and each lane is on one of them`() throws {
        let queue = try TestQueue()
        try queue.insert(230, "url, lane", "'http://h/', 'lane ' || i")
        let watched = try WatchedWorker(queue.database, ["--queue", "none"])
        func lanes(_ path: String) throws -> [String] {
            try watched.pages.read(path).lines.joined().matches(of: /href="\/lanes\?lane=([^"&]*)"/)
                .map { String($0.output.1) }
        }
        let first = try watched.pages.read("/lanes").lines.joined()
        #expect(first.contains("<a href=\"/lanes?page=2\" rel=\"next\">Next page</a>"), "\(first)")
        #expect(!first.contains("there are more"))
        let second = try watched.pages.read("/lanes?page=2").lines.joined()
        #expect(second.contains("<a href=\"/lanes\" rel=\"prev\">Previous page</a>"), "\(second)")
        #expect(!second.contains("Next page"))
        #expect(try lanes("/lanes").count == 200)
        #expect(Set(try lanes("/lanes") + lanes("/lanes?page=2")).count == 230)
        #expect(try watched.pages.read("/lanes?page=9").lines.joined().contains("This page is empty."))
        #expect(try watched.pages.read("/lanes?page=0").lines.joined().contains("not a number from 1 to 10000"))
    }

    @Test func `a job's page cuts long metadata and a long result`() throws {
        let queue = try TestQueue()
        // 8 kB of jsonb, which are 14 MB as text.
        let metadata = "('[' || repeat('1e13100,', 1000) || '1]')::jsonb"
        let id = try queue.insert("url, metadata", "'http://h/', \(metadata)")
        try queue.connection.execute(
            """
            delete from postrider_internal.ready;
            insert into postrider_internal.results (job_id, attempt, state, status_code, result) values (\(id), 1, 's',
                200,
              (select jsonb_agg(i) from generate_series(1, 200000) i))
            """)
        let watched = try WatchedWorker(queue.database)
        let page = try watched.pages.read("/jobs/\(id)")
        #expect(page.status == 200)
        #expect(page.lines.joined().utf8.count < 60_000)
    }

    @Test func `a large batch's page shows twelve members and links to all`() throws {
        let queue = try TestQueue()
        let spec = #"{"batch": [\#(Array(repeating: #"{"url": "http://h/"}"#, count: 300).joined(separator: ", "))]}"#
        let root = try queue.number("select postrider.submit('\(spec)')")
        try queue.connection.execute("select postrider.pause_queue('default')")
        let watched = try WatchedWorker(queue.database)
        func links(_ path: String) throws -> Int {
            let page = try watched.pages.read(path).lines.joined()
            return page.split(separator: "href=\"/jobs/", omittingEmptySubsequences: false).count
        }
        #expect(try watched.pages.read("/jobs/\(root)").lines.joined().contains("/jobs/\(root)/members"))
        #expect(try (12...20).contains(links("/jobs/\(root)")))
        #expect(try (100...110).contains(links("/jobs/\(root)/members")))
    }
}
