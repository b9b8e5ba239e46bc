// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// In Turkish the lower case of I is ı. The names of HTTP, URLs and cron are ASCII under every locale.
struct CollationTests {
    private static let icu: Comment = "the server was built without ICU"
    let target: TargetServer

    init() throws {
        target = try TargetServer { _ in TargetStep.answer(200) }
    }

    @Test(.enabled(if: try TestCluster.hasICU, CollationTests.icu))
    func `a Turkish database separates cached answers by user and lets job headers replace service headers`() throws {
        let queue = try TestQueue(locale: .turkish)
        try #require(try queue.text("select lower('I')") == "ı")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
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
    }

    @Test(.enabled(if: try TestCluster.hasICU, CollationTests.icu))
    func `a Turkish database treats upper-case headers, weekdays, hosts and charsets like any other database`() throws {
        let queue = try TestQueue(locale: .turkish)
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
                "select postrider_internal.answer_charset('content-type: text/plain; charset=ISO-8859-9\n', '\\x00', true)"
            )
                == "iso-8859-9")
    }

    @Test func `cron and templates accept only digits 0 to 9 and JSON spaces in every locale`() throws {
        let queue = try TestQueue(locale: .ofAllDigits)
        try #require(try queue.text(#"select ('٣' ~ '^\d$')::text"#) == "true")
        func refusal(_ sql: String) -> String? {
            TestRole.refusal(of: sql, queue.connection)
        }
        func schedule(_ cron: String) -> String {
            "insert into postrider.schedules (name, cron, spec) values ('a', '\(cron)', '{\"url\": \"http://h/\"}')"
        }
        func chain(_ template: String) -> String {
            """
            select postrider.submit('{"chain": [{"name": "a", "url": "http://h/"}, {"url": "http://h/{{\(template)}}"}]}')
            """
        }
        let badCron = try #require(refusal(schedule("x 0 * * *")))
        for cron in ["٣ 0 * * *", "1-٣ 0 * * *", "*/٣ 0 * * *", "0 0 * * ٣", "0 0 * * ٣#2", "0 0 * * ٣l", "0 0 * * l٣"]
        {
            #expect(refusal(schedule(cron)) == badCron, "\(cron)")
        }
        let badTemplate = try #require(refusal(chain("a.body[x]")))
        #expect(refusal(chain("a.body[٣]")) == badTemplate)
        #expect(refusal(chain("a.٣")) == refusal(chain("a.x")))
        #expect(refusal(chain("a.body[3]")) == nil && refusal(chain("a.body.٣")) == nil)
        // The last two texts contain no-break spaces.
        let isTaken = [" {{a.body}}\\n", "\u{A0}{{a.body}}", "{{a.body}}\u{A0}"].map { each in
            refusal(
                """
                select postrider.submit('{"chain": [{"name": "a", "url": "http://h/"},
                  {"batch": {"each": "\(each)", "do": {"url": "http://h/{{item}}"}}}]}')
                """) == nil
        }
        #expect(isTaken == [true, false, false])
    }
}
