// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// In Turkish the small letter of I is ı; the names of HTTP, URLs and cron are ASCII wherever they are.
struct CollationTests {
    let target: TargetServer

    init() throws {
        target = try TargetServer { _ in TargetStep.answer(200) }
    }

    @Test func `a Turkish database keeps users of a cache apart, and a job's headers before its service's`() throws {
        let queue = try TestQueue(locale: "tr")
        try #require(try queue.text("select lower('I')") == "ı")
        let worker = try RunningWorker(queue.database)
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, headers, allow_private_network)
            values ('s', '\(target.url)', '{"X-Api-Id": "service"}', true)
            """)
        for user in ["ALICE", "BOB"] {
            let id = try queue.insert(
                "url, headers, cache_ttl", "'\(target.url)/mine', '{\"AUTHORIZATION\": \"Bearer \(user)\"}', '1 h'")
            try queue.wait(for: id, toBe: "succeeded")
        }
        let own = try queue.insert("service, url, headers", "'s', 'own', '{\"X-API-ID\": \"job\"}'")
        try queue.wait(for: own, toBe: "succeeded")
        #expect(target.requests.map(\.path) == ["/mine", "/mine", "/own"])
        #expect(target.requests.last?.headers.filter { $0.name.lowercased() == "x-api-id" }.map(\.value) == ["job"])
        _ = worker
    }

    @Test func `a Turkish database refuses and takes what any other does`() throws {
        let queue = try TestQueue(locale: "tr")
        for header in ["TRANSFER-ENCODING", "KEEP-ALIVE", "TRAILER", "PROXY-AUTHORIZATION"] {
            #expect(throws: PGError.self, "\(header)") {
                try queue.insert("url, headers", "'http://h/', '{\"\(header)\": \"x\"}'")
            }
        }
        #expect(throws: PGError.self) {
            try queue.connection.execute(
                "insert into postrider.services (name, base_url, idempotency_header) values ('i', 'http://h/', 'If-Match')"
            )
        }
        try queue.connection.execute(
            "insert into postrider.schedules (name, cron, spec) values ('f', '0 9 * * FRI', '{\"url\": \"http://h/\"}')"
        )
        let id = try queue.insert("url", "'HTTPS://EXAMPLEI.invalid'")
        #expect(try queue.text("select lane from postrider.job_status where id = \(id)") == "examplei.invalid:443")
        #expect(
            try queue.text(
                "select postrider.answer_charset('content-type: text/plain; charset=ISO-8859-9\n', '\\x00', true)")
                == "iso-8859-9")
    }
}
