// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Services that lead from http to https on their own host, by redirects and by links to further pages.
struct UpgradeJobTests {
    private static func queue(_ proxy: UpgradeProxy) throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, allowed_origins) values ('key', 'bearer',
                '{http://localhost}');
            select postrider.log_in('key', '{"access_token": "t0ken"}');
            insert into postrider.services (name, base_url, proxy, tls, credential)
            values ('old', 'http://localhost', '\(proxy.url)', '{"ca": "\(proxy.caFile)"}', 'key'),
                   ('new', 'https://localhost', '\(proxy.url)', '{"ca": "\(proxy.caFile)"}', null);
            """)
        return queue
    }

    @Test func `a POST redirected to https by 307 or 308 keeps body, credential and Idempotency-Key`() throws {
        let proxy = try UpgradeProxy()
        let queue = try Self.queue(proxy)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for status in [307, 308] {
            let id = try queue.insert(
                "service, method, url, body_json", "'old', 'POST', '/\(status)/a', '{\"a\": 1}'")
            try queue.wait(for: id, toBe: "succeeded")
            let text =
                try queue.text("select convert_from(body, 'UTF8') from postrider.job_status where id = \(id)") ?? ""
            let words = ["POST /\(status)/a ", "Authorization: Bearer t0ken", "Idempotency-Key: ", "{\"a\": 1}"]
            #expect(words.allSatisfy { text.contains($0) }, "\(text)")
        }
    }

    @Test func `pagination keeps the scheme of its service and follows a Link with single-quoted rel`() throws {
        let proxy = try UpgradeProxy()
        let queue = try Self.queue(proxy)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for (service, path) in [("new", "/list/1"), ("new", "/link/1"), ("old", "/list/1"), ("old", "/link/1")] {
            let id = try queue.insert("service, url, paginate", "'\(service)', '\(path)', '{\"style\": \"link\"}'")
            try queue.wait(for: id, toBe: "succeeded")
            #expect(try queue.text("select result::text from postrider.job_status where id = \(id)") == "[1, 2]")
        }
        let origins = try queue.rows(
            """
            select distinct s.service, split_part(p.url, '/', 1) from postrider.pages p
              join postrider.job_status s on s.id = p.job_id
             order by 1
            """)
        #expect(origins == [["new", "https:"], ["old", "http:"]])
    }
}
