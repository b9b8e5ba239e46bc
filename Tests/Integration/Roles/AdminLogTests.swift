// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Clients and workers can neither write the log of admins' acts nor act in another's name.
struct AdminLogTests {
    @Test func `only an admin calls the functions that act in the name of a person`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url", "'http://h/'")
        for role in [TestRole.worker, .client, .stranger, .reader, .nobody] {
            let connection = try role.connect(queue)
            for call in [
                "record_admin_action('ada', 'cancel', '{}', 1)", "cancel_as(\(id), 'ada')",
                "pause_lane_as('l', 'infinity', 'ada')",
                "act_on_jobs('cancel', '{\(id)}', 'ada', now(), false, false)",
            ] {
                #expect(
                    TestRole.refusal(of: "select postrider_internal.\(call)", connection) == "42501", "\(role) \(call)")
            }
            #expect(TestRole.refusal(of: "set role postrider_admin", connection) == "42501", "\(role)")
        }
        #expect(try queue.number("select count(*) from postrider.admin_log") == 0)
        #expect(try queue.state(id) == "ready")
    }

    @Test func `no role writes admin_log itself, and admins and readers read it`() throws {
        let queue = try TestQueue()
        let admin = try TestRole.admin.connect(queue)
        try admin.execute("select postrider_internal.record_admin_action('ada', 'cancel', '{\"id\": 1}', 1)")
        for role in [TestRole.worker, .client, .stranger, .reader, .admin, .nobody] {
            let connection = try role.connect(queue)
            for sql in [
                "insert into postrider.admin_log (actor, action, target, count) values ('ada', 'cancel', '{}', 1)",
                "insert into postrider.admin_log (actor, login, action, target, count) values ('a', 'b', 'c', '{}', 1)",
                "update postrider.admin_log set actor = 'bob'", "delete from postrider.admin_log",
                "truncate postrider.admin_log",
            ] {
                #expect(TestRole.refusal(of: sql, connection) == "42501", "\(role) \(sql)")
            }
            let isReadable = [.worker, .reader, .admin].contains(role)
            #expect(
                (TestRole.refusal(of: "select * from postrider.admin_log", connection) == nil) == isReadable, "\(role)")
        }
    }

    @Test func `a row has the login of its caller, and a step adds to its own row only`() throws {
        let queue = try TestQueue()
        let admin = try TestRole.admin.connect(queue)
        // A setting of the session changes neither the login nor the actor.
        try admin.execute("set postrider.actor = 'root'; set role postrider_admin")
        let row = try admin.query(
            "select postrider_internal.record_admin_action('ada', 'cancel', '{\"queue\": \"a\"}', 5)"
        ).int64(0, 0)
        _ = try admin.query("select postrider_internal.record_admin_action('ada', 'cancel', '{}', 7, \(row))")
        for other in ["'bob', 'cancel'", "'ada', 'retry'"] {
            let isRefused = try admin.query(
                "select postrider_internal.record_admin_action(\(other), '{}', 100, \(row)) is null"
            ).bool(0, 0)
            #expect(isRefused)
        }
        // The superuser may call it, but adds to no row of another login.
        #expect(
            try queue.text("select postrider_internal.record_admin_action('ada', 'cancel', '{}', 100, \(row))") == nil)
        #expect(
            try queue.rows("select actor, login, action, target::text, count::text from postrider.admin_log")
                == [["ada", TestRole.admin.name, "cancel", #"{"queue": "a"}"#, "12"]])
        for name in ["''", "null", "repeat('a', 101)"] {
            #expect(
                TestRole.refusal(
                    of: "select postrider_internal.record_admin_action(\(name), 'cancel', '{}', 1)", admin) == "PR001")
        }
    }

    @Test func `reasons of pauses by SQL name the login, and no setting changes that`() throws {
        let queue = try TestQueue()
        let admin = try TestRole.admin.connect(queue)
        try admin.execute("set postrider.actor = 'ada'; select postrider.pause_lane('l')")
        #expect(try queue.text("select pause_reason from postrider.lanes") == "paused by \(TestRole.admin.name)")
        let client = try TestRole.client.connect(queue)
        try client.execute("set postrider.actor = 'ada'")
        let id = try client.query("insert into postrider.jobs (url) values ('http://h/') returning id").int64(0, 0)
        _ = try client.query("select postrider.cancel(\(id))")
        #expect(
            try queue.text("select error from postrider.job_status where id = \(id)")
                == "cancelled before it was called")
    }

    @Test func `rows older than the longer retention are deleted`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.admin_log (at, actor, action, target, count)
            select now() - age, 'ada', 'cancel', '{}', 1 from unnest('{89 days,91 days}'::interval[]) age
            """)
        let worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'fixture', '0', null, 64, '{}', '{}')")
        let leader = "\(worker), \(try queue.lead(worker))"
        for _ in 1...5 { _ = try queue.number("select jobs from postrider_internal.prune(\(leader))") }
        #expect(
            try queue.text("select string_agg((now()::date - at::date)::text, ' ') from postrider.admin_log") == "89")
    }
}
