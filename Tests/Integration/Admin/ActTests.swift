// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Acts of admins in the dashboard.
struct ActTests {
    /// The acts in the log: actor, action, target and count.
    private func log(_ queue: borrowing TestQueue) throws -> [[String?]] {
        try queue.rows("select actor, action, target::text, count::text from postrider.admin_log order by id")
    }

    @Test func `each act on one object does what its page says, and is logged`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database)
        let bad = try queue.insert("url, max_attempts", "'\(target.url)/status/404', 1")
        let later = try queue.insert("url, run_at", "'\(target.url)/ok/1', now() + interval '1 day'")
        let next = try queue.insert("url, run_at", "'\(target.url)/ok/2', now() + interval '1 day'")
        try queue.wait(for: bad, toBe: "failed")
        try queue.addService([target.url, target.url + "/b"])
        try queue.connection.execute(
            """
            insert into postrider.schedules (name, cron, spec)
            values ('nightly', '@yearly', '{"url": "\(target.url)/ok/3"}');
            insert into postrider.credentials (name, kind, allowed_origins) values ('key', 'bearer', '{\(target.url)}');
            select postrider.log_in('key', '{"access_token": "sesame"}')
            """)
        let service = try #require(try queue.text("select name from postrider.services"))
        for (query, more) in [
            ("do=retry&id=\(bad)", [:]), ("do=cancel&id=\(later)", [:]),
            ("do=reschedule&id=\(next)", ["run_at": "2031-02-03T04:05"]), ("do=pause-queue&queue=mail", [:]),
            ("do=resume-queue&queue=mail", [:]), ("do=pause-lane&lane=l", ["until": "2031-02-03 04:05:06Z"]),
            ("do=pause-lane&lane=m", [:]), ("do=pause-lane&lane=n", [:]), ("do=resume-lane&lane=n", [:]),
            ("do=run-schedule&schedule=nightly", [:]),
            ("do=switch-server&service=\(service)&environment=release&position=2", [:]),
            ("do=log-out&credential=key", [:]),
        ] as [(String, [String: String])] {
            let answer = try acting.act(query, more)
            #expect(answer.status == 303, "\(query): \(answer.body)")
            #expect(answer.headers["location"] == "/jobs?queue=mail")
        }
        try queue.wait(until: "select attempt = 2 from postrider.job_status where id = \(bad)")
        #expect(try queue.state(later) == "cancelled")
        #expect(
            try queue.text("select error from postrider.job_status where id = \(later)")
                == "cancelled by ada (dashboard) before it was called")
        #expect(
            try queue.text("select (run_at at time zone 'UTC')::text from postrider.job_status where id = \(next)")
                == "2031-02-03 04:05:00")
        #expect(try queue.rows("select name, paused::text from postrider.queues") == [["mail", "false"]])
        #expect(
            try queue.rows(
                "select name, pause_reason, (paused_until at time zone 'UTC')::text from postrider.lanes order by name")
                == [
                    ["l", "paused by ada (dashboard)", "2031-02-03 04:05:06"],
                    ["m", "paused by ada (dashboard)", "infinity"], ["n", nil, nil],
                ])
        let made = try #require(try queue.text("select last_job_id::text from postrider.schedules"))
        #expect(
            try queue.rows("select is_preferred::text from postrider.servers order by position")
                == [["false"], ["true"]])
        #expect(try queue.text("select state from postrider.credentials") == "logged_off")
        #expect(
            try log(queue) == [
                ["ada", "retry", #"{"id": \#(bad)}"#, "1"], ["ada", "cancel", #"{"id": \#(later)}"#, "1"],
                ["ada", "reschedule", #"{"id": \#(next), "run_at": "2031-02-03T04:05"}"#, "1"],
                ["ada", "pause-queue", #"{"queue": "mail"}"#, "1"],
                ["ada", "resume-queue", #"{"queue": "mail"}"#, "1"],
                ["ada", "pause-lane", #"{"lane": "l", "until": "2031-02-03 04:05:06Z"}"#, "1"],
                ["ada", "pause-lane", #"{"lane": "m"}"#, "1"], ["ada", "pause-lane", #"{"lane": "n"}"#, "1"],
                ["ada", "resume-lane", #"{"lane": "n"}"#, "1"],
                ["ada", "run-schedule", #"{"job": \#(made), "schedule": "nightly"}"#, "1"],
                [
                    "ada", "switch-server",
                    #"{"service": "\#(service)", "position": 2, "environment": "release"}"#, "1",
                ],
                ["ada", "log-out", #"{"credential": "key"}"#, "1"],
            ])
        #expect(try queue.text("select distinct login from postrider.admin_log") == TestRole.admin.name)
        #expect(acting.watched.worker.count(of: "admin_action") == 12)
        #expect(acting.watched.worker.output.contains(#""event":"admin_action","actor":"ada","action":"retry""#))
        #expect(!acting.watched.worker.output.contains("sesame"))
    }

    @Test func `a page shows what will happen, to how many, and the same in SQL, and changes nothing`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        let id = try queue.insert("url, queue", "'http://h/1', 'mail'")
        _ = try queue.insert("url, queue", "'http://h/2', 'mail'")
        for method in ["GET", "HEAD"] {
            let page = try acting.send(method, "/act?do=cancel&queue=mail")
            #expect(page.status == 200)
            guard method == "GET" else { continue }
            #expect(page.body.contains("This changes 2 jobs"))
            #expect(page.body.contains("select postrider.cancel_all(queue =&gt; &#39;mail&#39;);"))
            #expect(page.body.contains("<button class=\"danger\">Cancel 2 jobs</button>"))
        }
        let queuePage = try acting.send("GET", "/act?do=pause-queue&queue=mail").body
        #expect(queuePage.contains("No new call begins for its 2 ready jobs"))
        #expect(try acting.send("GET", "/act?do=cancel&id=\(id)").body.contains("select postrider.cancel(\(id));"))
        // Nor does a GET with the fields of a form.
        let fields = try acting.form("do=cancel&id=\(id)")
        #expect(try acting.send("GET", "/act?\(ActingWorker.encode(fields))").status == 200)
        #expect(try queue.state(id) == "ready")
        #expect(try log(queue) == [])
    }

    @Test func `an act that is not possible shows the reason`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        let id = try queue.insert("url", "'http://h/1'")
        let page = try acting.send("GET", "/act?do=retry&id=\(id)")
        #expect(page.body.contains("Job \(id) is ready, so this act is not possible."))
        #expect(!page.body.contains("<button"))
        for missing in [
            "do=cancel&id=99", "do=run-schedule&schedule=x", "do=log-out&credential=x",
            "do=switch-server&service=x&environment=y&position=1",
        ] {
            #expect(try acting.send("GET", "/act?\(missing)").status == 404, "\(missing)")
        }
        // The job ends between the page and its form.
        let fields = try acting.form("do=cancel&id=\(id)")
        try queue.connection.execute("select postrider.cancel(\(id))")
        let late = try acting.post(fields)
        #expect(late.status == 409)
        #expect(late.body.contains("The job had ended before."))
        #expect(try log(queue) == [])
    }

    @Test func `bad fields are answered with 400 and the name of the field`() throws {
        let queue = try TestQueue()
        let acting = try ActingWorker(queue.database, ["--queue", "none"])
        let id = try queue.insert("url", "'http://h/1'")
        for (query, field) in [
            ("do=nonsense", "do"), ("do=cancel", "id"), ("do=cancel&id=x", "id"), ("do=pause-lane", "lane"),
            ("do=retry&state=ready", "state"), ("do=retry&status=x", "status"),
        ] {
            let page = try acting.send("GET", "/act?\(query)")
            #expect(page.status == 400 && page.body.contains("\(field): "), "\(query): \(page.body)")
        }
        let fields = try acting.form("do=reschedule&id=\(id)")
        for time in ["soon", "2031-13-01T00:00", "infinity"] {
            let answer = try acting.post(try acting.form("do=reschedule&id=\(id)").merging(["run_at": time]) { $1 })
            #expect(answer.status == 400 && answer.body.contains("run_at: "), "\(time): \(answer.body)")
        }
        // A refused field does not use the form up.
        #expect(try acting.post(fields.merging(["run_at": "soon"]) { $1 }).status == 400)
        #expect(try acting.post(fields.merging(["run_at": "2031-01-01T00:00"]) { $1 }).status == 303)
    }

    @Test func `without --http-actions there are no acts`() throws {
        let queue = try TestQueue()
        let folder = try TestFolder()
        try folder.write("token", ActingWorker.token)
        let watched = try WatchedWorker(queue.database, ["--http-token-file", folder.path("token")])
        let login = ["Authorization: Bearer \(ActingWorker.token)"]
        #expect(try watched.pages.read("/act?do=pause-queue&queue=a", headers: login).status == 404)
        let post = try watched.pages.read("/act", method: "POST", headers: login)
        #expect(post.status == 405)
        #expect(post.headers["allow"] == "GET, HEAD")
    }
}
