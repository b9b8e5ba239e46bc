// SPDX-License-Identifier: Apache-2.0

import JobModel
import Migrations
import PGClient
import TestSupport
import Testing

/// Verdicts are sent to the database as letters. SQL must give each letter the meaning of its Swift name.
struct VerdictLetterTests {
    /// The job's place after the second of three attempts.
    private func place(after kind: Verdict.Kind) throws -> String {
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider_internal.tracks (queue, lane, priority) values ('default', 'h:80', 0)")
        try queue.insert("url, max_attempts, backoff", "'http://h/', 3, '{40 s, 900 s}'")
        // Long enough that the query below still finds the wait ahead on a loaded machine.
        let wait: Duration? = kind == .delayed ? .seconds(20) : nil
        try FinishFixture.finish(queue, attempt: 2, Verdict(kind, .internal, "why", retryAfter: wait))
        return try queue.text(
            """
            select concat_ws(', ',
              (select 'ended ' || postrider_internal.state_name(r.state) from postrider_internal.results r),
              (select format('scheduled %s, attempt %s', case when s.run_at < now() + interval '1 s' then 'at once'
                                                              when s.run_at < now() + interval '1 min' then 'soon' else 'later' end, s.attempt)
                 from postrider_internal.scheduled s),
              (select format('ready, attempt %s', r.attempt) from postrider_internal.ready r),
              (select 'lane paused' where exists (select from postrider_internal.lane_pauses)
                  or exists (select from postrider.lanes n where n.paused_until > now())))
            """) ?? ""
    }

    @Test(arguments: Verdict.Kind.allCases)
    func `finish gives each verdict letter the effect of its verdict`(kind: Verdict.Kind) throws {
        let expected =
            switch kind {
            case .succeeded: "ended succeeded"
            case .failed: "ended failed"
            case .unknown: "ended unknown"
            case .retryable: "scheduled later, attempt 2"
            case .handedBack: "scheduled at once, attempt 1"
            case .progressed, .gainedLittle, .delayed: "scheduled soon, attempt 1"
            case .held: "ready, attempt 1, lane paused"
            case .onward: "ready, attempt 1"
            case .unprepared: "scheduled at once, attempt 1"
            }
        #expect(try place(after: kind) == expected)
    }

    @Test func `finish.sql documents each verdict letter that workers and judge use`() throws {
        let file = try #require(Migrations.all.first { $0.name == "functions/queue/finish.sql" })
        let text = String(decoding: file.bytes, as: UTF8.self)
        let sent = Set(Verdict.Kind.allCases.map(\.letter))
        #expect(sent.count == Verdict.Kind.allCases.count)
        for letter in sent.union(["n"]) {
            #expect(text.contains(try Regex("(?m)(-- |: |· )\(letter) [a-z]")), "\(letter)")
        }
    }
}
