// SPDX-License-Identifier: Apache-2.0

import HostileTarget
import PGClient
import TestSupport
import Testing

/// The report of `worker doctor` about jobs that no worker takes and webhooks without a key, for each role.
struct DoctorFleetTests {
    @Test func `doctor names queues that no running worker takes, those with most ready jobs first`() throws {
        let queue = try TestQueue()
        try queue.insert(3, "url, queue", "'http://h/', 'old'")
        try queue.insert(12, "url, queue", "'http://h/', 'it''s mial'")
        for number in 1...5 { try queue.insert("url, queue", "'http://h/', 'q\(number)'") }
        try queue.connection.execute("select postrider.pause_queue('halted')")
        try queue.insert(20, "url, queue", "'http://h/', 'halted'")
        try queue.insert(20, "url, queue, run_at", "'http://h/', 'later', now() + interval '1 day'")
        // While no worker runs, another line says so, and this one is missing.
        #expect(try DoctorReport(queue.database)["ready jobs"] == "")
        let worker = try RunningWorker(queue.database, ["--queue", "mail", "--queue", "q5"])
        defer { worker.kill() }
        try queue.wait(until: "select exists (select from postrider_internal.leases where until > now())")
        try queue.wait(until: "select sum(ready) = 0 from postrider.queue_status where queue = 'q5'")
        let report = try DoctorReport(queue.database)
        #expect(report.status == 0)
        let since = "since [0-9-]{10} [0-9:]{8} [A-Z]+"
        let line = try Regex(
            """
            notice ready jobs 19 in queues that no running worker takes: 'it''s mial' \\(12 \(since)\\), 'old' \\(3 \(since)\\), \
            'q1' \\(1 \(since)\\), 'q2' \\(1 \(since)\\), 'q3' \\(1 \(since)\\) and 1 more; \
            start a worker with --queue NAME, or cancel them: select postrider.cancel_all\\(queue => 'NAME'\\)
            """)
        #expect(report["ready jobs"].wholeMatch(of: line) != nil, "\(report)")
        #expect(
            try queue.rows(
                "select queue, has_worker::text from postrider.queue_status where queue in ('old', 'q5') order by 1")
                == [["old", "false"], ["q5", "true"]])
        // This worker takes every queue.
        let other = try RunningWorker(queue.database)
        defer { other.kill() }
        try queue.wait(until: "select bool_and(has_worker) from postrider.queue_status")
        #expect(try DoctorReport(queue.database)["ready jobs"] == "")
    }

    @Test func `doctor names clients above 90 % of a limit`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.client_limits (role, max_unfinished, max_lanes) values ('shop', 100, 10),
              ('mail', 100, null);
            insert into postrider_internal.client_usage (role, version, unfinished, lanes) values ('shop', 1, 91, 10),
              ('mail', 1, 90, 5)
            """)
        let report = try DoctorReport(queue.database)
        #expect(report.status == 0)
        #expect(
            report["clients"]
                == "notice clients above 90 % of a limit: 'shop' (91 of 100 jobs, 10 of 10 lanes); "
                + "see postrider.client_status, raise it in postrider.client_limits")
    }

    /// Logical replication copies no sequences, so they lag behind their tables.
    @Test func `doctor names sequences behind their tables with the repairing statements`() throws {
        let queue = try TestQueue()
        #expect(try DoctorReport(queue.database)["sequences"] == "ok sequences none is behind its table")
        let id = try queue.insert("url, tag", "'http://h/', 'kept'")
        try queue.connection.execute(
            """
            select setval('postrider.jobs_id_seq', 1, false), setval('postrider_internal.tracks_id_seq', 1, false)
            """)
        // A repeated row has a newer seq than the highest job id.
        try queue.connection.execute("update postrider_internal.ready set seq = \(id) + 41")
        let report = try DoctorReport(queue.database)
        #expect(report.status == 1)
        #expect(
            report["sequences"].contains(
                "fault sequences postrider.jobs_id_seq is at 0, but its table already holds \(id + 41): "
                    + "the next rows fail or repeat numbers; "
                    + "run: select setval('postrider.jobs_id_seq', \(id + 41))"), "\(report)")
        for row in try queue.rows("select repair from postrider_internal.sequence_lags()") {
            try queue.connection.execute(row[0] ?? "")
        }
        #expect(try DoctorReport(queue.database)["sequences"] == "ok sequences none is behind its table")
        #expect(try queue.insert("url", "'http://h/'") == id + 42)
    }

    @Test(arguments: [TestRole.worker, .reader])
    func `doctor reports an error in the count of clients' jobs as a fault`(role: TestRole) throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.client_limits (role, max_unfinished) values ('shop', 100);
            update postrider_internal.client_counting set failed_at = now(), error = 'division by zero'
            """)
        let report = try DoctorReport(role.database(queue.database))
        #expect(report.status == 1)
        #expect(
            report["clients"]
                == "fault clients their jobs cannot be counted, so limits use an old count; the leader repeats the count every 10 s: division by zero"
        )
    }

    @Test(arguments: [TestRole.worker, .reader]) func `doctor reports restores of the last day as a notice`(
        role: TestRole
    ) throws {
        let queue = try TestQueue()
        func found(_ ago: String, leases: Int, unknown: Int) throws {
            try queue.connection.execute(
                """
                insert into postrider_internal.identities (above_id, found_at, system_identifier, timeline,
                                                           database_oid, workers_oid, found_by,
                  lost_leases, unknown_jobs)
                select 0, now() - interval '\(ago)', r.system_identifier, r.timeline, r.database_oid, r.workers_oid,
                       'a', \(leases), \(unknown)
                  from postrider_internal.current_identity() r
                """)
        }
        let database = role.database(queue.database)
        try found("25 h", leases: 7, unknown: 3)
        #expect(try DoctorReport(database)["restores"] == "")
        try found("2 h", leases: 2, unknown: 1)
        try found("1 h", leases: 4, unknown: 0)
        let report = try DoctorReport(database)
        #expect(report.status == 0)
        let last = try queue.text("select to_char(max(found_at), 'YYYY-MM-DD HH24:MI:SS TZ') from postrider.restores")
        #expect(
            report["restores"]
                == "notice restores within the last day: 6 leases lost, 1 jobs unknown; last restore found at \(last ?? ""); see postrider.restores and docs/operating.md"
        )
    }

    @Test func `doctor names webhooks without a signing secret and counts those that failed`() throws {
        let queue = try TestQueue()
        let target = try TargetServer()
        let secret = ["POSTRIDER_WEBHOOK_SECRET": "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]
        #expect(try DoctorReport(queue.database)["webhooks"] == "")
        try queue.insert("url, callback_url", "'\(target.url)/ok', '\(target.url)/hook'")
        let report = try DoctorReport(queue.database)
        #expect(report.status == 0)
        let remedy = "set POSTRIDER_WEBHOOK_SECRET as on the other workers, or give --webhook-secret-file"
        #expect(
            report["webhooks"]
                == "notice webhooks jobs have a callback_url, but no secret is set here to sign their webhooks, so they fail with config; \(remedy)"
        )
        #expect(try DoctorReport(queue.database, [], secret)["webhooks"] == "")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(
            until: "select exists (select from postrider.job_status where tag = 'webhook' and error_code = 'config')")
        #expect(
            try DoctorReport(TestRole.worker.database(queue.database))["webhooks"]
                == "notice webhooks 1 failed with config within a day, and no secret is set here to sign them; \(remedy); then run: "
                + "select postrider.retry_failed(error_code => 'config', since => now() - interval '1 day')")
        #expect(try DoctorReport(queue.database, [], secret)["webhooks"] == "")
    }

    @Test(arguments: [TestRole.admin, .reader])
    func `doctor shows an admin or reader the limits of its login and reports the views`(role: TestRole) throws {
        let queue = try TestQueue()
        let database = role.database(queue.database)
        try queue.connection.execute(
            """
            select postrider.pause_queue('mail');
            select postrider.pause_lane('api', 'infinity');
            insert into postrider.credentials (name, kind) values ('shop', 'bearer')
            """)
        try queue.insert("url, queue, callback_url", "'http://h/', 'mial', 'http://h/'")
        let worker = try RunningWorker(queue.database, ["--queue", "mail"])
        defer { worker.kill() }
        try queue.wait(until: "select exists (select from postrider_internal.leases where until > now())")
        let report = try DoctorReport(database)
        #expect(report.status == 0, "\(report)")
        #expect(
            report["rights"]
                == "notice rights \(role.name) has the rights of postrider_\(role.rawValue), which runs no jobs, so some checks are left out; for all checks give doctor the worker's --database"
        )
        #expect(report["schema"].hasPrefix("ok "))
        #expect(report["workers"] == "ok workers 1 running, one of them leads")
        #expect(report["queues"].hasPrefix("notice queues paused: 'mail'"))
        #expect(
            report["ready jobs"].hasPrefix(
                "notice ready jobs 1 in queues that no running worker takes: 'mial' (1 since "))
        #expect(report["lanes"].hasPrefix("notice lanes 1 paused until resumed"))
        #expect(report["credentials"].hasPrefix("notice credentials logged off: 'shop'"))
        // The report checks nothing that only a worker needs.
        for subject in ["connections", "secrets", "webhooks"] { #expect(report[subject] == "") }
    }
}
