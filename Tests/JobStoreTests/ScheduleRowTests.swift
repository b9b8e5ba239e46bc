// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The values that a row of schedules may hold, and the changes of its trigger.
struct ScheduleRowTests {
    private static let good = "'a', '0 4 * * *', '{\"url\": \"http://h/\"}'"

    @Test(arguments: [
        ("cron", "name, cron, spec", "'a', '0 4 * *', '{\"url\": \"http://h/\"}'"),
        ("cron", "name, cron, spec", "'a', '0 0 30 2 *', '{\"url\": \"http://h/\"}'"),
        ("cron", "name, spec", "'a', '{\"url\": \"http://h/\"}'"),
        ("name", "name, cron, spec", "'', '0 4 * * *', '{\"url\": \"http://h/\"}'"),
        ("name", "cron, spec", "'0 4 * * *', '{\"url\": \"http://user:secret@h/\"}'"),
        ("timezone", "name, cron, spec, timezone", "\(good), 'Europe/Nowhere'"),
        ("timezone", "name, cron, spec, timezone", "\(good), 'CEST'"),
        ("timezone", "name, cron, spec, timezone", "\(good), 'UTC+3'"),
        ("timezone", "name, cron, spec, timezone", "\(good), 'Europe/Berlin+3'"),
        ("timezone", "name, cron, spec, timezone", "\(good), ''"),
        ("timezone", "name, cron, spec, timezone", "\(good), 'CET'"),
        ("timezone", "name, cron, spec, timezone", "\(good), 'wet'"),
        ("timezone", "name, cron, spec, timezone", "\(good), null"),
        ("enabled", "name, cron, spec, enabled", "\(good), null"),
        ("overlap", "name, cron, spec, overlap", "\(good), 'no'"),
        ("catch_up", "name, cron, spec, catch_up", "\(good), 'some'"),
        ("catch_up_limit", "name, cron, spec, catch_up_limit", "\(good), 0"),
        ("catch_up_limit", "name, cron, spec, catch_up_limit", "\(good), 1001"),
        ("jitter", "name, cron, spec, jitter", "\(good), '-1 s'"),
        ("jitter", "name, cron, spec, jitter", "\(good), '2 days'"),
        ("next_run_at", "name, cron, spec, next_run_at", "\(good), 'infinity'"),
        ("skipped", "name, cron, spec, skipped", "\(good), -5"),
        ("missed", "name, cron, spec, missed", "\(good), -5"),
        ("last_job_id", "name, cron, spec, last_job_id", "\(good), -5"),
        ("created_at", "name, cron, spec, created_at", "\(good), 'infinity'"),
        ("spec", "name, cron", "'a', '0 4 * * *'"), ("spec", "name, cron, spec", "'a', '0 4 * * *', '[]'"),
        ("spec", "name, cron, spec", "'a', '0 4 * * *', '{\"method\": \"GET\"}'"),
        ("spec", "name, cron, spec", "'a', '0 4 * * *', '{\"url\": \"http://h/\", \"run_at\": \"2030-01-01\"}'"),
        ("spec", "name, cron, spec", "'a', '0 4 * * *', '{\"url\": \"http://h/\", \"expires_at\": \"2030-01-01\"}'"),
        ("spec", "name, cron, spec", "'a', '0 4 * * *', '{\"url\": \"http://h/\", \"parent_id\": 1}'"),
        ("spec", "name, cron, spec", "'a', '0 4 * * *', '{\"url\": \"http://h/\", \"service\": \"none\"}'"),
        ("spec", "name, cron, spec", "'a', '0 4 * * *', '{\"batch\": []}'"),
    ])
    func `an invalid schedule is refused with its column and a hint, without its secrets`(
        column: String, columns: String, values: String
    ) throws {
        let connection = try Fixture.connect()
        let error = try #require(throws: PGError.self) {
            try connection.execute("insert into postrider.schedules (\(columns)) values (\(values))")
        }
        #expect(error.sqlState?.rawValue == "PR001")
        #expect(error.message.hasPrefix("schedules.\(column): "), "\(error)")
        #expect(error.column == column)
        #expect(error.hint?.isEmpty == false)
        #expect(!"\(error)".contains("secret"))
    }

    @Test(arguments: [
        (#"{"chain": [{"url": "http://h/"}, {"url": "ftp://h/"}]}"#, "$.chain[1].url: "),
        (#"{"batch": [{"url": "http://h/"}, {"ulr": "http://h/"}]}"#, "$.batch[1].ulr: no such key"),
        (#"{"url": "http://h/", "max_attempts": "many"}"#, "$.max_attempts: "),
        (#"{"url": "http://h/", "priority": 1000}"#, "$.priority: 1000 is out of range"),
    ])
    func `an error in a schedule's spec names the JSON path`(spec: String, place: String) throws {
        let connection = try Fixture.connect()
        let error = try #require(throws: PGError.self) {
            try connection.execute(
                "insert into postrider.schedules (name, cron, spec) values ('a', '@daily', '\(spec)')")
        }
        #expect(error.message.hasPrefix("schedules.spec: \(place)"), "\(error)")
    }

    @Test func `next_run_at follows cron, timezone and enabled, and a value set by a user stays`() throws {
        let queue = try TestQueue()
        func next() throws -> String? {
            try queue.text(
                """
                select coalesce((next_run_at - date_trunc('day', now() at time zone 'UTC') at time zone 'UTC')::text,
                                'none')
                  from postrider.schedules
                """)
        }
        func change(_ sql: String) throws { try queue.connection.execute("update postrider.schedules set \(sql)") }
        let tomorrow = "1 day"
        try queue.connection.execute(
            "insert into postrider.schedules (name, cron, spec) values ('a', '@daily', '{\"url\": \"http://h/\"}')")
        #expect(try next() == tomorrow)
        // Asia/Kolkata is 5:30 ahead all year.
        try change("timezone = 'Asia/Kolkata', cron = '30 5 * * *'")
        #expect(try next() == tomorrow)
        try change("enabled = false")
        #expect(try next() == "none")
        try change("cron = '30 11 L 2 *'")
        #expect(try next() == "none")
        try change("enabled = true, cron = '@daily', timezone = 'UTC'")
        #expect(try next() == tomorrow)
        try change("next_run_at = now() - interval '3 hours'")
        #expect(
            try queue.number("select (next_run_at = now() - interval '3 hours')::int from postrider.schedules") == 0)
        #expect(try queue.number("select (next_run_at < now())::int from postrider.schedules") == 1)
        try change("overlap = 'skip'")
        #expect(try queue.number("select (next_run_at < now())::int from postrider.schedules") == 1)
        try change("next_run_at = null")
        #expect(try next() == tomorrow)
    }

    @Test func `created_by of a schedule cannot be forged, and its jobs carry the same role`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.schedules (name, cron, spec, created_by) values ('a', '@daily', '{"url": "http://h/"}', 'somebody');
            update postrider.schedules set created_by = 'else';
            select postrider.run_schedule('a')
            """)
        #expect(try queue.text("select created_by from postrider.schedules") == "postgres")
        #expect(try queue.text("select created_by from postrider.jobs") == "postgres")
    }

    private enum Fixture {
        private static let made = Result { () throws -> String in try TestQueue.makeDatabase() }

        static func connect() throws -> PGConnection { try PGConnection(made.get()) }
    }

    @Test func `a schedule whose service was deleted can be disabled but not enabled again`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('gone', 'http://h/');
            insert into postrider.schedules (name, cron, spec) values ('a', '0 4 * * *', '{"service": "gone", "url": "x"}');
            delete from postrider.services where name = 'gone';
            update postrider.schedules set cron = '0 5 * * *';
            update postrider.schedules set enabled = false
            """)
        let error = try #require(throws: PGError.self) {
            try queue.connection.execute("update postrider.schedules set enabled = true")
        }
        #expect(error.column == "spec", "\(error)")
    }
}
