// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A queue has at most one unfinished job for each dedupe_key.
struct DedupeTests {
    private static func refusal(_ queue: borrowing TestQueue, _ sql: String) throws -> PGError {
        let connection = try PGConnection(queue.database)
        return try #require(throws: PGError.self) { try connection.execute(sql) }
    }

    private static let insert = "insert into postrider.jobs (url, dedupe_key) values ('http://h/', 'k')"

    @Test
    func `a queue refuses a second job with the same dedupe_key and names the first job`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url, dedupe_key", "'http://h/', 'secret-7'")
        let error = try Self.refusal(
            queue, "insert into postrider.jobs (url, dedupe_key) values ('http://h/', 'secret-7')")
        #expect(error.sqlState == .uniqueViolation)
        #expect(error.message.hasPrefix("jobs.dedupe_key: job \(id) "))
        #expect(error.column == "dedupe_key")
        #expect(error.hint?.isEmpty == false)
        #expect(!"\(error)".contains("secret-7"))
        try queue.insert("url, dedupe_key, queue", "'http://h/', 'secret-7', 'other'")
        try queue.insert("url, dedupe_key", "'http://h/', 'secret-8'")
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 3)
    }

    @Test func `find_job returns the unfinished job of a key to roles that may see it`() throws {
        let queue = try TestQueue()
        let client = try TestRole.client.connect(queue)
        let id = try client.query(
            "insert into postrider.jobs (url, dedupe_key, run_at) values ('http://h/', 'k', now() + interval '1 h') returning id"
        ).int64(0, 0)
        let other = try queue.insert("url, dedupe_key, queue", "'http://h/', 'k', 'other'")
        let find = "select coalesce(postrider.find_job('k'), 0), coalesce(postrider.find_job('k', 'other'), 0)"
        let reader = try TestRole.reader.connect(queue)
        let own = try client.query(find)
        let all = try reader.query(find)
        #expect([own.int64(0, 0), own.int64(0, 1)] == [id, 0])
        #expect([all.int64(0, 0), all.int64(0, 1)] == [id, other])
        #expect(try queue.text("select dedupe_key from postrider.job_status where id = \(id)") == "k")
        #expect(try queue.text("select postrider.find_job('unknown')") == nil)
        // The key is free again after the end of its job.
        try queue.connection.execute("select postrider.cancel(\(id))")
        #expect(try queue.text("select postrider.find_job(dedupe_key => 'k')") == nil)
    }

    /// A plain row is not checked against all rules. These rows must be checked.
    @Test(arguments: [
        "priority, 101", "timeout, '-1 s'", "headers, '{\"a b\": \"c\"}'", "service, 'nobody'",
        "body, convert_to(repeat('1', 20000000), 'UTF8')",
        "on_success, 'nothing'", "extract, '$.a ? (@.b starts with $c)'",
    ])
    func `a bad row with on_duplicate skip is refused even if its key is taken`(column: String) throws {
        let queue = try TestQueue()
        try queue.insert("url, dedupe_key", "'http://h/', 'k'")
        let parts = column.split(separator: ",", maxSplits: 1)
        let error = try Self.refusal(
            queue,
            "insert into postrider.jobs (method, url, dedupe_key, on_duplicate, \(parts[0])) values ('POST', 'http://h/', 'k', 'skip',\(parts[1]))"
        )
        #expect(error.sqlState?.rawValue == "PR001")
        #expect(error.column == String(parts[0]))
    }

    @Test func `on_duplicate skip leaves out rows with a taken key, and RETURNING does not show them`() throws {
        let queue = try TestQueue()
        try queue.insert("url, dedupe_key", "'http://h/', 'a'")
        let returned = try queue.rows(
            """
            insert into postrider.jobs (url, dedupe_key, on_duplicate)
            values ('http://h/1', 'a', 'skip'), ('http://h/2', 'b', 'skip'), ('http://h/3', 'b', 'skip'),
            ('http://h/4', null, 'skip')
            returning url
            """)
        #expect(returned == [["http://h/2"], ["http://h/4"]])
        #expect(
            try queue.text(
                "select postrider.submit('{\"url\": \"http://h/\", \"dedupe_key\": \"a\", \"on_duplicate\": \"skip\"}')::text"
            ) == nil)
        #expect(try queue.number("select count(*) from postrider.jobs") == 3)
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 3)
        let bad = try Self.refusal(
            queue, "insert into postrider.jobs (url, dedupe_key, on_duplicate) values ('rubbish', 'a', 'skip')")
        #expect(bad.column == "url", "a row that breaks a rule is refused although its key is taken")
        let error = try Self.refusal(
            queue, "insert into postrider.jobs (url, dedupe_key) values ('http://h/', 'x'), ('http://h/', 'x')")
        #expect(error.sqlState == .uniqueViolation)
        #expect(try queue.number("select count(*) from postrider_internal.dedupe_keys") == 2)
    }

    @Test func `a dedupe_key is free once its job has succeeded, failed or been cancelled`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let ends = [
            ("'\(target.url)/ok'", "max_attempts", "5", "succeeded"),
            ("'\(target.url)/status/400'", "max_attempts", "1", "failed"),
            (
                "'\(target.url)/late'", "run_at, expires_at", "now() + interval '1 h', now() + interval '1 h 1 s'",
                "cancelled"
            ),
        ]
        for (url, columns, values, state) in ends {
            for _ in 1...2 {
                let id = try queue.insert("url, dedupe_key, \(columns)", "\(url), 'k', \(values)")
                if state == "cancelled" {
                    #expect(try Self.refusal(queue, Self.insert).sqlState == .uniqueViolation)
                    try queue.connection.execute("select postrider.cancel(\(id))")
                }
                try queue.wait(for: id, toBe: state)
            }
        }
        #expect(worker.isRunning)
        #expect(try queue.number("select count(*) from postrider_internal.dedupe_keys") == 1)
    }

    @Test func `a cancelled job frees its dedupe_key before its callbacks have run`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url, dedupe_key, notify", "'http://h/', 'k', true")
        try queue.connection.execute("select postrider.cancel(\(id))")
        #expect(try queue.number("select count(*) from postrider_internal.outcomes") == 1)
        try queue.connection.execute(Self.insert)
    }

    @Test func `concurrent INSERTs never share a dedupe_key, and a rollback frees it for a waiting INSERT`() throws {
        let queue = try TestQueue()
        let holder = try PGConnection(queue.database)
        try holder.execute("begin; \(Self.insert)")
        let database = queue.database
        let waiter = BackgroundThread {
            _ = try? PGConnection(database).execute("set application_name = 'waiter'; \(Self.insert)")
        }
        try queue.waitUntilBlocked("dedupe_key")
        try holder.execute("rollback")
        waiter.join()
        #expect(try queue.number("select count(*) from postrider.jobs where dedupe_key = 'k'") == 1)

        let threads = (0..<8).map { _ in
            BackgroundThread {
                guard let connection = try? PGConnection(database) else { return }
                for i in 0..<40 {
                    let skip =
                        "insert into postrider.jobs (url, dedupe_key, on_duplicate) values ('http://h/', 'r\(i % 10)', 'skip') returning id"
                    guard let result = try? connection.query(skip), result.rowCount == 1 else { continue }
                    let id = result.int64(0, 0)
                    _ = try? connection.query("select postrider.cancel(\(id))")
                    if i % 3 == 0 { _ = try? connection.query("select postrider.retry(\(id))") }
                }
            }
        }
        for thread in threads { thread.join() }
        let twice = """
            select count(*) from (select dedupe_key from postrider.jobs j
             where dedupe_key is not null and not exists (select from postrider_internal.results r
                                                          where r.job_id = j.id)
             group by dedupe_key having count(*) > 1) x
            """
        #expect(try queue.number(twice) == 0)
        #expect(try queue.number("select count(*) from postrider.jobs where dedupe_key like 'r%'") > 10)
    }

    @Test func `retry takes the dedupe_key again or is refused if another unfinished job has it`() throws {
        let queue = try TestQueue()
        let first = try queue.insert("url, dedupe_key", "'http://h/', 'k'")
        try queue.connection.execute("select postrider.cancel(\(first))")
        let second = try queue.insert("url, dedupe_key", "'http://h/', 'k'")
        let error = try Self.refusal(queue, "select postrider.retry(\(first))")
        #expect(error.sqlState == .uniqueViolation)
        #expect(error.message == "job \(first) cannot run again: job \(second) has its dedupe_key and has not finished")
        #expect(try queue.state(first) == "cancelled")
        try queue.connection.execute("select postrider.cancel(\(second)); select postrider.retry(\(first))")
        #expect(try Self.refusal(queue, Self.insert).message.hasPrefix("jobs.dedupe_key: job \(first) "))

        let spec = #"{"batch": [{"url": "http://h/", "dedupe_key": "m"}, {"url": "http://h/"}], "dedupe_key": "t"}"#
        let tree = try queue.number("select postrider.submit('\(spec)')")
        #expect(try Self.refusal(queue, "select postrider.submit('\(spec)')").sqlState == .uniqueViolation)
        try queue.connection.execute("select postrider.cancel(\(tree))")
        let member = try queue.insert("url, dedupe_key", "'http://h/', 'm'")
        #expect(try Self.refusal(queue, "select postrider.retry(\(tree))").sqlState == .uniqueViolation)
        #expect(try queue.state(tree) == "cancelled")
        try queue.connection.execute("select postrider.cancel(\(member)); select postrider.retry(\(tree))")
        #expect(try queue.state(tree) == "running")
        #expect(
            try Self.refusal(queue, "insert into postrider.jobs (url, dedupe_key) values ('http://h/', 'm')").sqlState
                == .uniqueViolation)
    }

    @Test func `a skipped member is left out with its descendants, and other members keep their positions`() throws {
        let queue = try TestQueue()
        try queue.insert("url, dedupe_key", "'http://h/', 'k'")
        let tree = try queue.number(
            """
            select postrider.submit('{"chain": [
              {"batch": [{"url": "http://h/1"}, {"url": "http://h/2", "dedupe_key": "k", "on_duplicate": "skip"}, {"url": "http://h/3"}]},
              {"batch": [{"url": "http://h/4"}, {"batch": [{"url": "http://h/5"}]}], "dedupe_key": "k", "on_duplicate": "skip"},
              {"batch": [{"url": "http://h/6"}, {"url": "http://h/7"}]}]}')
            """)
        let rows = try queue.rows(
            """
            select j.url, p.position::text, j.position::text from postrider.jobs j
              join postrider.jobs p on p.id = j.parent_id
             where j.kind = 'request' order by j.url
            """)
        #expect(
            rows == [
                ["http://h/1", "1", "1"], ["http://h/3", "1", "3"], ["http://h/6", "3", "1"], ["http://h/7", "3", "2"],
            ])
        #expect(try queue.number("select count(*) from postrider_internal.members where parent_id = \(tree)") == 2)
        // A client may read only the ids of jobs.
        let client = try TestRole.client.connect(queue)
        let held = #"{"url": "http://h/8", "dedupe_key": "k", "on_duplicate": "skip"}"#
        let batch = try client.query(
            "select postrider.submit('{\"batch\": [\(held), {\"batch\": [{\"url\": \"http://h/9\"}]}]}')"
        ).int64(0, 0)
        #expect(
            try queue.rows("select kind, position::text from postrider.job_status where parent_id = \(batch)")
                == [["batch", "2"]])
        let all = try Self.refusal(
            queue,
            "select postrider.submit('{\"batch\": [{\"url\": \"http://h/\", \"dedupe_key\": \"k\", \"on_duplicate\": \"skip\"}]}')"
        )
        #expect(all.message.hasPrefix("$.batch: all members are left out"))
        #expect(all.sqlState?.rawValue == "PR006" && all.hint?.contains("on_duplicate") == true)
        let inner = #"{"url": "http://h/", "dedupe_key": "k", "on_duplicate": "skip"}"#
        let nested = try Self.refusal(
            queue,
            "select postrider.submit('{\"chain\": [{\"url\": \"http://h/\"}, {\"batch\": [\(inner), \(inner)]}]}')")
        #expect(nested.message.hasPrefix("$.chain[1].batch: all members are left out"))
        // An error also names the place of the member.
        let taken = try Self.refusal(
            queue,
            "select postrider.submit('{\"chain\": [{\"url\": \"http://h/\"}, {\"url\": \"http://h/\", \"dedupe_key\": \"k\"}]}')"
        )
        #expect(taken.sqlState == .uniqueViolation && taken.message.hasPrefix("$.chain[1].dedupe_key: job "))
        let twice = #"{"batch": [{"url": "http://h/", "dedupe_key": "t"}, {"url": "http://h/", "dedupe_key": "t"}]}"#
        #expect(
            try Self.refusal(queue, "select postrider.submit('\(twice)')").message.hasPrefix(
                "$.batch[1].dedupe_key: job "))
        let each = #"{"batch": {"each": [1, 2], "do": {"url": "http://h/{{item}}", "dedupe_key": "e"}}}"#
        #expect(
            try Self.refusal(queue, "select postrider.submit('\(each)')").message.hasPrefix("$.batch.do.dedupe_key: "))
    }

    @Test(arguments: [
        ("dedupe_key", "''"), ("dedupe_key", "repeat('a', 1001)"), ("on_duplicate", "'no'"), ("on_duplicate", "null"),
    ])
    func `an empty or too long dedupe_key and an unknown on_duplicate are refused by column`(
        column: String, value: String
    ) throws {
        let queue = try TestQueue()
        let columns = column == "dedupe_key" ? "url, dedupe_key" : "url, dedupe_key, on_duplicate"
        let values = column == "dedupe_key" ? "'http://h/', \(value)" : "'http://h/', 'a', \(value)"
        let error = try Self.refusal(queue, "insert into postrider.jobs (\(columns)) values (\(values))")
        #expect(error.sqlState?.rawValue == "PR001")
        #expect(error.column == column)
        try queue.insert("url, queue, dedupe_key", "'http://h/', repeat('é', 200), repeat('€', 1000)")
    }

    @Test func `INSERT SELECT takes many dedupe keys, and prune_dedupe deletes keys of finished jobs`() throws {
        let queue = try TestQueue()
        let count = Soak.count(100_000, reduced: 5_000)
        try queue.insert(count, "url, dedupe_key", "'http://h/' || i, 'k' || i")
        #expect(try queue.number("select count(*) from postrider_internal.dedupe_keys") == count)
        try queue.connection.execute(
            "insert into postrider.jobs (url, dedupe_key, on_duplicate) select 'http://h/', 'k' || i, 'skip' from generate_series(1, \(count + 5)) i"
        )
        #expect(try queue.number("select count(*) from postrider.jobs") == count + 5)
        try queue.connection.execute(
            """
            do $$ begin while postrider_internal.feed(array(select id from postrider_internal.intake order by id))
              > 0 loop end loop; end $$;
            with gone as (delete from postrider_internal.ready where job_id % 10 <> 0 returning job_id)
            insert into postrider_internal.results (job_id, attempt, state) select job_id, 1, 's' from gone;
            """)
        let open = try queue.number("select count(*) from postrider_internal.ready")
        for _ in 1...(count / 1000 + 20) {
            try queue.connection.execute(
                "select postrider_internal.prune_dedupe(1000); update postrider_internal.dedupe_cursor set due_at = now()"
            )
        }
        #expect(try queue.number("select count(*) from postrider_internal.dedupe_keys") == open)
        #expect(
            try queue.number(
                "select count(*) from postrider_internal.dedupe_keys k join postrider_internal.ready r using (job_id)")
                == open)
    }
}
