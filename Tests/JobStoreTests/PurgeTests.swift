// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The jobs that purge deletes, the jobs that it keeps, and the errors for deleted jobs.
final class PurgeTests {
    private let queue: TestQueue

    init() throws {
        queue = try TestQueue()
    }

    /// Ends a job without a call, in a state, this long ago.
    private func end(_ id: Int64, _ state: String, ago: String = "40 days") throws {
        try queue.connection.execute(
            """
            select postrider.cancel(\(id));
            update postrider_internal.results set state = '\(state)', finished_at = now() - interval '\(ago)'
              where job_id = \(id);
            update postrider_internal.jobs_1 set created_at = now() - interval '\(ago)' where id = \(id)
            """)
    }

    private func purge(_ before: String = "now() - interval '30 days'") throws -> Int64 {
        try queue.number("select postrider.purge(\(before))")
    }

    private func jobs() throws -> String {
        try queue.text("select coalesce(string_agg(id::text, ' ' order by id), '') from postrider.job_status") ?? ""
    }

    @Test func `purge deletes jobs that ended before the given time, with all their records`() throws {
        for (number, state) in ["s", "f", "c", "e", "k", "u"].enumerated() {
            let id = try queue.insert("url", "'http://h/\(number)'")
            try end(id, state)
            try queue.connection.execute(
                """
                insert into postrider_internal.past_attempts (job_id, fence, started_at, worker, attempt) values (\(id),
                    1, now(), 1, 1);
                insert into postrider_internal.callback_failures (job_id, event, function, sqlstate, error)
                values (\(id), 'did_stop', 'f', 'XX000', 'x')
                """)
        }
        let young = try queue.insert("url", "'http://h/young'")
        try end(young, "s", ago: "29 days")
        let ready = try queue.insert("url", "'http://h/ready'")
        let later = try queue.insert("url, run_at", "'http://h/later', now() + interval '1 h'")
        try queue.connection.execute("update postrider_internal.jobs_1 set created_at = now() - interval '1 year'")
        #expect(try purge() == 6)
        #expect(try jobs() == "\(young) \(ready) \(later)")
        for table in ["past_attempts", "callback_failures"] {
            #expect(try queue.number("select count(*) from postrider_internal.\(table)") == 0)
        }
        #expect(try queue.number("select count(*) from postrider_internal.results") == 1)
        #expect(try purge() == 0)
        #expect(try purge("'infinity'") == 1)
        #expect(try jobs() == "\(ready) \(later)")
    }

    @Test func `purge deletes 8,000 of 12,000 jobs and records them as a single prune`() throws {
        try queue.insert(12_000, "url, tag", "'http://h/' || i, 'old'")
        _ = try queue.number("select postrider.cancel_all(tag => 'old')")
        try queue.connection.execute(
            """
            update postrider_internal.results set finished_at = now() - interval '1 h' where job_id % 3 > 0;
            update postrider_internal.jobs_1 set created_at = now() - interval '1 h'
            """)
        #expect(try purge("now() - interval '1 min'") == 8_000)
        #expect(try queue.number("select count(*) from postrider.jobs") == 4_000)
        #expect(
            try queue.text("select jobs || ' ' || first_id || ' ' || last_id from postrider_internal.prunes")
                == "8000 1 11999")
    }

    @Test func `purge deletes a tree only as a whole, after its root has ended long enough`() throws {
        let root = try queue.number(
            """
            select postrider.submit('{"chain": [{"url": "http://h/1"}, {"mode": "settle", "batch": [{"url": "http://h/2"}, {"url": "http://h/3"}]},
              {"url": "http://h/4", "run_at": "2100-01-01"}]}')
            """)
        let single = try queue.insert("url", "'http://h/single'")
        try end(single, "s")
        // A member that ended long ago, in a chain that has not ended.
        try queue.connection.execute(
            "insert into postrider_internal.results (job_id, attempt, state, finished_at) values (\(root + 1), 1, 's', now() - interval '1 year')"
        )
        #expect(try purge() == 1)
        #expect(try queue.number("select count(*) from postrider.jobs") == 6)
        try queue.connection.execute("delete from postrider_internal.results where job_id = \(root + 1)")

        _ = try queue.number("select postrider.cancel(\(root))::int")
        try queue.wait(
            until:
                "select (postrider_internal.settle(0, true)).has_more is not null and not exists (select from postrider_internal.trees where state in ('w', 'o') or is_draining)"
        )
        try queue.connection.execute(
            "update postrider_internal.results set finished_at = now() - interval '40 days' where job_id <> \(root)")
        #expect(try purge() == 0)
        try queue.connection.execute(
            "update postrider_internal.results set finished_at = now() - interval '40 days' where job_id = \(root)")
        #expect(try purge() == 6)
        #expect(try queue.number("select count(*) from postrider.jobs") == 0)
        for table in ["results", "trees", "members", "filled_templates"] {
            #expect(try queue.number("select count(*) from postrider_internal.\(table)") == 0, "\(table)")
        }
    }

    @Test func `purge keeps a job until its webhook has ended`() throws {
        try queue.connection.execute(
            "insert into postrider.jobs (url, callback_url) values ('http://h/source', 'http://h/hook')")
        let source = try queue.number("select max(id) from postrider.jobs")
        _ = try queue.number("select postrider.cancel(\(source))::int")
        _ = try queue.text("select ended::text from postrider_internal.conclude(100)")
        let hook = try queue.number("select job_id from postrider_internal.webhooks where source_job_id = \(source)")
        #expect(try purge("'infinity'") == 0)
        try end(hook, "s")
        #expect(try purge("'infinity'") == 2)
        #expect(try queue.number("select count(*) from postrider_internal.webhooks") == 0)
    }

    @Test func `purge keeps a job that is being retried`() throws {
        let id = try queue.insert("url", "'http://h/1'")
        try end(id, "f")
        let other = try PGConnection(queue.database)
        try other.execute("begin; select postrider.retry(\(id))")
        #expect(try purge() == 0)
        try other.execute("commit")
        #expect(try purge("'infinity'") == 0)
        #expect(try queue.state(id) == "ready")
    }

    @Test func `a retry that waits for a purge of its job fails with PR005`() throws {
        let id = try queue.insert("url", "'http://h/1'")
        try end(id, "f")
        let database = queue.database
        let other = try PGConnection(database)
        try other.execute("begin; select postrider.purge('infinity')")
        let retry = BackgroundThread {
            let error = #expect(throws: PGError.self) {
                try PGConnection(database).execute("select postrider.retry(\(id))")
            }
            #expect(error?.sqlState == SQLState(rawValue: "PR005"))
        }
        try queue.waitUntilBlocked("postrider.retry")
        try other.execute("commit")
        retry.join()
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 0)
    }

    @Test(arguments: ["retry(ID)", "cancel(ID)", "reschedule(ID, now())"])
    func `errors and explain for a pruned job name the day of its pruning`(call: String) throws {
        let id = try queue.insert("url", "'http://h/1'")
        try end(id, "s")
        #expect(try purge() == 1)
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("select postrider.\(call.replacing("ID", with: "\(id)"))")
        }
        #expect(error?.sqlState == SQLState(rawValue: "PR003"))
        let today = try queue.text("select (now() at time zone 'UTC')::date::text") ?? ""
        let reason = "ob \(id) does not exist: jobs with ids from \(id) to \(id) were pruned on \(today)"
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(try queue.text("select postrider.explain(\(id))") == "J\(reason).")
        #expect(try queue.text("select postrider.explain(\(id + 1))") == "Job \(id + 1) does not exist.")
    }

    @Test func `a dedupe key is free after its job is purged, and purge refuses null`() throws {
        let id = try queue.insert("url, dedupe_key", "'http://h/1', 'k'")
        try end(id, "s")
        #expect(try purge() == 1)
        try queue.insert("url, dedupe_key", "'http://h/2', 'k'")
        let error = #expect(throws: PGError.self) { try purge("null") }
        #expect(error?.sqlState == SQLState(rawValue: "PR001"))
    }

    @Test(arguments: ["retention", "failed_retention"], ["0", "101 years", "9999 years"])
    func `a retention must be more than 0 and at most 100 years`(column: String, term: String) throws {
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("update postrider.settings set \(column) = interval '\(term)'")
        }
        #expect(error?.sqlState == SQLState(rawValue: "PR001"))
        #expect(
            error?.message.contains("settings.\(column): must be more than 0 and at most 100 years") == true,
            "\(error?.message ?? "")")
        try queue.connection.execute("update postrider.settings set \(column) = null")
        try queue.connection.execute("update postrider.settings set \(column) = interval '100 years'")
    }
}
