// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Acts on the jobs that a person has ticked in a list.
struct TickTests {
    @Test func `just the ticked jobs are retried, in one act with its count`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database)
        try queue.insert(5, "url, max_attempts", "'\(target.url)/status/500/' || i, 1")
        try queue.waitUntilDone()
        try queue.connection.execute("select postrider.pause_queue('default')")
        let page = try acting.send("GET", "/act?do=retry&ids=2&ids=4%2C5&ids=4").body
        #expect(page.contains("At once, this changes 3 jobs.") && page.contains("<dd>2, 4, 5</dd>"), "\(page)")
        #expect(page.contains("<dt>failed</dt><dd>3</dd>"), "\(page)")
        let fields = ActingWorker.fields(page)
        #expect(fields["ids"] == "2,4,5")
        #expect(try queue.number("select count(*) from postrider.admin_log") == 0)
        let answer = try acting.post(fields)
        #expect(answer.status == 303, "\(answer)")
        #expect(
            try queue.rows("select id::text from postrider.job_status where state = 'failed' order by id")
                == [["1"], ["3"]])
        #expect(
            try queue.rows("select actor, action, target::text, count::text from postrider.admin_log")
                == [["ada", "retry", #"{"ids": [2, 4, 5]}"#, "3"]])
        #expect(acting.watched.worker.count(of: "admin_action") == 1)
    }

    @Test func `jobs that cannot take the act are named before, and counted afterwards`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        try queue.insert(3, "url, queue", "'http://h/' || i, 'mail'")
        let chain = try queue.number(
            #"select postrider.submit('{"queue": "mail", "chain": [{"url": "http://h/a"}, {"url": "http://h/b"}]}')"#)
        let steps = try queue.rows("select id::text from postrider.jobs where parent_id = \(chain) order by id")
        try queue.connection.execute("select postrider.cancel(1)")
        let ids = (["1", "2", "\(chain)"] + steps.compactMap { $0[0] } + ["99"]).joined(separator: ",")
        let page = try acting.send("GET", "/act?do=cancel&ids=\(ids)").body
        #expect(page.contains("At once, this changes 4 of the 6 ticked jobs."), "\(page)")
        for fact in ["<dt>cancelled</dt><dd>1, left out</dd>", "<dt>deleted</dt><dd>1</dd>"] {
            #expect(page.contains(fact), "\(fact) in \(page)")
        }
        let answer = try acting.post(ActingWorker.fields(page))
        // The chain ends its steps, so they do not count again.
        #expect(answer.status == 200 && answer.body.contains("2 of 6 changed"), "\(answer)")
        #expect(try queue.state(chain) == "cancelled" && queue.state(3) == "ready")
        #expect(
            try queue.number("select count(*) from postrider.job_status where state = 'cancelled'") == 5)
        let again = try acting.send("GET", "/act?do=cancel&ids=1,2").body
        #expect(again.contains("This act fits none of the ticked jobs.") && !again.contains("form class=\"act\""))
    }

    @Test func `ticked jobs move to the time of the form`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        try queue.insert(3, "url, run_at", "'http://h/' || i, now() + interval '1 day'")
        let answer = try acting.act("do=reschedule&ids=1&ids=3", ["run_at": "2031-02-03T04:05"])
        #expect(answer.status == 303, "\(answer)")
        #expect(
            try queue.rows("select id::text from postrider.job_status where run_at = '2031-02-03 04:05Z' order by id")
                == [["1"], ["3"]])
        #expect(
            try queue.text("select target::text from postrider.admin_log")
                == #"{"ids": [1, 3], "run_at": "2031-02-03T04:05"}"#)
    }

    @Test func `ticked causes are retried in one act, and a job that matches two of them once`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database)
        try queue.insert(3, "url, lane, max_attempts", "'\(target.url)/status/500/' || i, 'a,b', 1")
        try queue.insert(2, "url, lane, max_attempts", "'\(target.url)/status/503/' || i, 'other', 1")
        try queue.insert(4, "url, lane, max_attempts", "'\(target.url)/status/404/' || i, 'spared', 1")
        try queue.waitUntilDone()
        let list = try acting.send("GET", "/failures").body
        let values = list.matches(of: /name="causes" value="([^"]*)" aria-label/).map {
            String($0.output.1).replacing("&amp;", with: "&")
        }
        try #require(values.count == 3, "\(list)")
        // A wider cause as well, whose jobs all match one of the others.
        let ticked = values.filter { !$0.contains("spared") } + ["state=failed&status=500"]
        let query = ticked.map { ActingWorker.encode(["causes": $0]) }.joined(separator: "&")
        let page = try acting.send("GET", "/act?do=retry&\(query)").body
        #expect(page.contains("This changes at most 8 jobs") && page.contains("lane a,b"), "\(page)")
        let answer = try acting.post(ActingWorker.fields(page))
        #expect(answer.status == 303 && answer.headers["location"] == "/act?do=progress", "\(answer)")
        try TestClock.wait(30, for: "the end") {
            try acting.send("GET", "/act?do=progress").body.contains("It is done.")
        }
        try queue.waitUntilDone()
        #expect(
            try queue.rows("select lane, max(attempt)::text from postrider.job_status group by lane order by lane")
                == [["a,b", "2"], ["other", "2"], ["spared", "1"]])
        #expect(try queue.number("select count from postrider.admin_log") == 5)
        #expect(
            try queue.number("select jsonb_array_length(target -> 'causes') from postrider.admin_log") == 3)
    }

    /// A race: the state changes between the page and the form.
    @Test func `nothing is logged if no ticked job can take the act any longer`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        try queue.insert(2, "url", "'http://h/' || i")
        let fields = try acting.form("do=cancel&ids=1,2")
        try queue.connection.execute("select postrider.cancel(1), postrider.cancel(2)")
        let answer = try acting.post(fields)
        #expect(answer.status == 409 && answer.body.contains("None of the ticked jobs"), "\(answer)")
        #expect(try queue.number("select count(*) from postrider.admin_log") == 0)
    }

    @Test func `a form is refused for other jobs, twice, from another site or person, and without ticks`()
        throws
    {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        try queue.insert(3, "url", "'http://h/' || i")
        let fields = try acting.form("do=cancel&ids=1&ids=2")
        for change in [["ids": "1,2,3"], ["ids": "1"], ["do": "reschedule"], ["token": "1-00"], ["id": "3"]] {
            #expect(try acting.post(fields.merging(change) { $1 }).status == 403, "\(change)")
        }
        for headers in [["Origin": "http://evil.example"], ["Sec-Fetch-Site": "cross-site"]] as [[String: String?]] {
            #expect(try acting.post(fields, headers: headers).status == 403, "\(headers)")
        }
        #expect(try acting.post(fields, user: "bob").status == 403)
        // Without a tick, nothing is chosen. It must never mean all jobs.
        let none = try acting.send("GET", "/act?do=cancel")
        #expect(none.status == 400 && none.body.contains("tick jobs in a list"), "\(none)")
        let many = (1...501).map { "ids=\($0)" }.joined(separator: "&")
        #expect(try acting.send("GET", "/act?do=cancel&\(many)").status == 400)
        let most = (1...500).map { "ids=\($0 + 1_000_000_000)" }.joined(separator: "&")
        #expect(try acting.send("GET", "/act?do=cancel&\(most)").body.contains("fits none of the ticked jobs"))
        let list = (1...501).map { "\($0)" }.joined(separator: ",")
        #expect(try acting.send("GET", "/act?do=cancel&ids=\(list)").status == 400)
        #expect(try queue.number("select count(*) from postrider.job_status where state = 'cancelled'") == 0)
        #expect(try acting.post(fields).status == 303)
        #expect(try acting.post(fields).status == 403)
        #expect(try queue.number("select count(*) from postrider.admin_log") == 1)
    }

    @Test func `pages have boxes only if the viewer may act`() throws {
        let queue = try TestQueue()
        let reading = try WatchedWorker(queue.database, ["--queue", "none"])
        let batch = try queue.number(
            #"select postrider.submit('{"batch": [{"url": "http://h/a"}, {"url": "http://h/b"}]}')"#)
        for path in ["/jobs", "/failures", "/jobs/\(batch)/members"] {
            #expect(try !reading.pages.read(path).lines.joined().contains("checkbox"), "\(path)")
        }
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        for path in ["/jobs", "/jobs/\(batch)/members"] {
            #expect(try acting.send("GET", path).body.contains("checkbox"), "\(path)")
        }
    }
}
