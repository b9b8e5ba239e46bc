// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Acts on all jobs of a filter.
struct BulkActTests {
    /// Waits for the end of the act, and returns the text of its page.
    private func end(_ acting: ActingWorker) throws -> String {
        var body = ""
        try TestClock.wait(60, for: "the end of the act: \(body)") {
            body = try acting.send("GET", "/act?do=progress").body
            return !body.contains("data-live")
        }
        return body
    }

    @Test func `all failures of a filter are retried in steps, once each, and counted in one row`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        try queue.insert(1203, "url, lane, max_attempts", "'http://127.0.0.1:9/' || i, 'dead', 1")
        try queue.insert(3, "url, lane, max_attempts", "'http://127.0.0.1:9/' || i, 'other', 1")
        let worker = try RunningWorker(queue.database, concurrency: 64)
        try queue.wait(60, until: "select count(*) = 1206 from postrider_internal.results where state = 'f'")
        let page = try acting.send("GET", "/act?do=retry&state=failed&lane=dead&error_code=connect").body
        #expect(page.contains("This changes 1203 jobs"), "\(page)")
        let answer = try acting.post(ActingWorker.fields(page))
        #expect(answer.status == 303)
        #expect(answer.headers["location"] == "/act?do=progress")
        let shown = try end(acting)
        #expect(shown.contains("It is done."), "\(shown)")
        // They fail again while the act runs. It must not retry them a second time.
        try queue.wait(
            60, until: "select count(*) = 1203 from postrider_internal.results where state = 'f' and attempt = 2")
        worker.kill()
        #expect(
            try queue.rows("select actor, action, target::text, count::text from postrider.admin_log")
                == [["ada", "retry", #"{"lane": "dead", "state": "failed", "error_code": "connect"}"#, "1203"]])
        #expect(acting.watched.worker.count(of: "admin_action") == 1)
        #expect(try queue.number("select max(attempt) from postrider_internal.results") == 2)
    }

    @Test func `a cancel ends batches before their members, and leaves later jobs alone`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        try queue.insert(700, "url, queue", "'http://h/' || i, 'mail'")
        let batch = try queue.number(
            """
            select postrider.submit('{"queue": "mail", "batch": [{"url": "http://h/a"}, {"url": "http://h/b"}]}')
            """)
        let spared = try queue.insert("url, queue", "'http://h/', 'spared'")
        try queue.wait(
            until: "select count(*) = 2 from postrider.job_status where parent_id = \(batch) and state = 'ready'"
        )
        let answer = try acting.act("do=cancel&queue=mail")
        #expect(answer.status == 303)
        let shown = try end(acting)
        #expect(shown.contains("It is done."), "\(shown)")
        #expect(
            try queue.number("select count(*) from postrider.job_status where queue = 'mail' and state <> 'cancelled'")
                == 0)
        #expect(
            try queue.text("select error from postrider.job_status where id = \(batch)")
                == "cancelled by ada (dashboard)")
        #expect(try queue.state(spared) == "ready")
        #expect(try queue.number("select count from postrider.admin_log") == 701)
    }

    @Test func `jobs are rescheduled, and jobs that cannot be are left out`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        try queue.insert(20, "url, run_at, tag", "'http://h/' || i, now() + interval '1 day', 't'")
        try queue.insert(
            2, "url, run_at, tag, expires_at",
            "'http://h/' || i, now() + interval '1 day', 't', now() + interval '2 days'")
        let answer = try acting.act("do=reschedule&tag=t&state=scheduled", ["run_at": "2040-01-02T03:04"])
        #expect(answer.status == 303)
        #expect(try end(acting).contains("It is done."))
        #expect(
            try queue.number(
                "select count(*) from postrider.job_status where run_at = '2040-01-02 03:04Z' and state = 'scheduled'")
                == 20)
        #expect(try queue.number("select count from postrider.admin_log") == 20)
    }

    @Test func `one act on many jobs runs at a time, and it can be stopped`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        try queue.insert(1500, "url, queue", "'http://h/' || i, 'mail'")
        // The act waits for the row that is locked here.
        let holder = try PGConnection(queue.database)
        try holder.execute("begin; select from postrider_internal.ready order by job_id desc limit 1 for update")
        #expect(try acting.act("do=cancel&queue=mail").status == 303)
        try queue.waitUntilBlocked("act_on_jobs")
        let page = try acting.send("GET", "/act?do=progress")
        #expect(page.body.contains("It is under way"))
        let second = try acting.act("do=cancel&queue=mail")
        #expect(second.status == 409)
        #expect(second.body.contains("is under way"))
        let stop = ActingWorker.fields(page.body)
        #expect(try acting.post(stop, user: "bob").status == 403)
        #expect(try acting.post(stop).status == 303)
        #expect(try acting.send("GET", "/act?do=progress").body.contains("It stops after"))
        try holder.execute("commit")
        #expect(try end(acting).contains("It was stopped."))
        #expect(try queue.number("select count from postrider.admin_log") == 500)
        #expect(
            try queue.number("select count(*) from postrider.job_status where state = 'cancelled'") == 500)
    }

    @Test func `the count has a bound`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        try queue.insert(10_050, "url, queue", "'http://h/' || i, 'mail'")
        let page = try acting.send("GET", "/act?do=cancel&queue=mail").body
        #expect(page.contains("This changes more than 10\u{2009}000 jobs"), "\(page)")
        #expect(try acting.post(ActingWorker.fields(page)).status == 303)
        #expect(try end(acting).contains("It is done."))
        #expect(try queue.number("select count from postrider.admin_log") == 10_050)
    }

    @Test func `a count that looks at a part of the jobs says so, and the act changes all`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        try queue.insert(40, "url, lane", "'http://h/' || i, 'old'")
        try queue.insert(4_995, "url, lane", "'http://h/' || i, 'new'")
        let some = try acting.send("GET", "/act?do=cancel&lane=old").body
        #expect(some.contains("This changes at least 5 jobs") && some.contains("looked at the newest 5"), "\(some)")
        try queue.insert(5, "url, lane", "'http://h/' || i, 'new'")
        let none = try acting.send("GET", "/act?do=cancel&lane=old").body
        #expect(none.contains("This changes all jobs that match") && none.contains("None of the newest"), "\(none)")
        #expect(try acting.post(ActingWorker.fields(none)).status == 303)
        #expect(try end(acting).contains("It is done."))
        #expect(try queue.number("select count from postrider.admin_log") == 40)
        #expect(try acting.send("GET", "/act?do=cancel&lane=old").body.contains("can change none"))
    }
}
