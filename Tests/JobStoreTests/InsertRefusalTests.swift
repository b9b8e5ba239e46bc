// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Errors of an INSERT: they name the row and the column, and show nothing of the database's internals.
struct InsertRefusalTests {
    /// The error as psql shows it: SQLSTATE, message, DETAIL, and the number of CONTEXT lines.
    private func refusal(_ statement: String, _ queue: borrowing TestQueue) throws -> (error: String, contextLines: Int)
    {
        let outcome = try Psql.run("\\set VERBOSITY verbose\n\(statement);", on: queue.database)
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        let context = lines.drop { !$0.hasPrefix("CONTEXT:") }.prefix {
            !$0.hasPrefix("SCHEMA NAME:") && !$0.hasPrefix("LOCATION:")
        }
        let error = lines.first { $0.contains("ERROR:") }?.split(separator: "ERROR:").last.map(String.init) ?? ""
        let detail = lines.first { $0.hasPrefix("DETAIL:") }.map { " |" + $0.dropFirst(8) } ?? ""
        return (String((error + detail).drop { $0 == " " }), context.count)
    }

    /// `noise(n)` is a text of n characters of four bytes each that does not compress.
    private static let noise = """
        create function pg_temp.noise(n int) returns text language sql as
          'select string_agg(chr(65536 + (random() * 60000)::int), '''') from generate_series(1, n)';
        """

    @Test(arguments: [
        ("jobs (url, tag) values ('http://h/', pg_temp.noise(6000))", "PR001: jobs.tag: has 6000 characters"),
        (
            "jobs (url, queue) values ('http://h/', pg_temp.noise(6000))",
            "PR001: jobs.queue: must have 1 to 200 characters"
        ),
        (
            "jobs (url, lane) values ('http://h/', pg_temp.noise(6000))",
            "PR001: jobs.lane: must have 1 to 300 characters"
        ),
        (
            "jobs (url, name) values ('http://h/', pg_temp.noise(6000))",
            "PR001: jobs.name: must have 1 to 200 characters"
        ),
        ("lanes (name) values (pg_temp.noise(1000))", "PR001: lanes.name: must have 1 to 300 characters"),
        ("queues (name) values (pg_temp.noise(1000))", "PR001: queues.name: must have 1 to 200 characters"),
        (
            "servers (service, environment, position, base_url) values ('s', pg_temp.noise(1000), 1, 'http://h/')",
            "PR001: servers.environment: must have 1 to 200 characters"
        ),
        (
            "schedules (name, cron, spec) values (pg_temp.noise(1000), '* * * * *', '{\"url\": \"http://h/\"}')",
            "PR001: schedules.name: must have 1 to 200 characters"
        ),
    ])
    func `a text too long for an index is refused with an error that names the column`(row: String, expected: String)
        throws
    {
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.services (name, base_url) values ('s', 'http://h/')")
        let refusal = try refusal("\(Self.noise)\ninsert into postrider.\(row)", queue)
        #expect(refusal.error.hasPrefix(expected), "\(refusal)")
    }

    @Test func `texts of the maximum length are accepted by INSERT and by add_tracks`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            \(Self.noise)
            insert into postrider.jobs (url, tag, queue, lane, name, dedupe_key)
            values ('http://h/', pg_temp.noise(400), pg_temp.noise(200), pg_temp.noise(300), pg_temp.noise(200),
                    pg_temp.noise(1000));
            insert into postrider.lanes (name) select lane from postrider.jobs;
            insert into postrider.queues (name) select queue from postrider.jobs;
            """)
        #expect(try queue.number("select count(*) from postrider.lanes") >= 1)
        try queue.connection.execute(
            "select postrider_internal.add_tracks(array_agg(queue), array_agg(lane), array_agg(priority::int), '0') from postrider.jobs"
        )
        #expect(
            try queue.number(
                "select count(*) from postrider_internal.tracks t join postrider.jobs j using (queue, lane)") == 1)
    }

    /// Row 777 of 1000 breaks a rule. The error names the row by its place and URL, and shows no query, password or
    /// body.
    @Test(arguments: [
        ("url, case i when 777 then '/x' else 'http://h/' || i end", #"jobs.url: has no scheme | row 777, url "/x""#),
        (
            "url, priority, case i when 777 then 'http://u:pw@h/p?key=secret#f' else 'http://h/' end, case i when 777 then 1000 else 0 end",
            #"jobs.priority: 1000 is out of range | row 777, url "http://h/p""#
        ),
        (
            "url, parent_id, 'http://h/' || i, case i when 777 then 4711 end",
            #"jobs.parent_id: job 4711 does not exist | row 777, url "http://h/777""#
        ),
        (
            "url, parent_id, run_if, 'http://h/' || i, 1, case i when 777 then '$.a == 1'::jsonpath end",
            #"jobs.run_if: is for steps of a chain | row 777, url "http://h/777""#
        ),
        (
            "url, parent_id, name, 'http://h/' || i, 1, case when i in (7, 777) then 'same' end",
            #"jobs.name: batch 1 has a member named same already | row 7, url "http://h/7""#
        ),
        (
            "kind, url, each, case i when 777 then 'batch' else 'request' end, case i when 777 then null else 'http://h/' end, case i when 777 then '[]'::jsonb end",
            #"jobs.each: must be an object with list and do | row 777"#
        ),
    ])
    func `an error about a row of a large INSERT names the row`(columns: String, expected: String) throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            "begin; insert into postrider.jobs (kind) values ('batch'); insert into postrider.jobs (url, parent_id) values ('http://h/', 1); commit"
        )
        let parts = columns.split(
            separator: ", ", maxSplits: columns.hasPrefix("kind") ? 3 : columns.hasPrefix("url, case") ? 1 : .max)
        let names = parts.prefix { ["url", "kind", "each", "priority", "parent_id", "run_if", "name"].contains($0) }
        let values = parts.dropFirst(names.count).joined(separator: ", ")
        let select = "select \(values) from generate_series(1, 1000) i order by i"
        let refusal = try refusal(
            "insert into postrider.jobs (\(names.joined(separator: ", "))) \(select)", queue)
        #expect(refusal.error.contains(expected), "\(refusal)")
        #expect(!refusal.error.contains("secret") && !refusal.error.contains("pw"))
        #expect(refusal.contextLines <= 1, "\(refusal)")
    }

    @Test func `an error of a one-row INSERT does not name the row`() throws {
        let queue = try TestQueue()
        let refusal = try refusal("insert into postrider.jobs (url) values ('nope')", queue)
        #expect(refusal.error == "PR001: jobs.url: has no scheme")
        #expect(refusal.contextLines == 1)
    }

    @Test(arguments: ["COPY", "VALUES"])
    func `an error names the row number for both COPY and VALUES`(way: String) throws {
        let queue = try TestQueue()
        let statement =
            way == "COPY"
            ? "\\copy postrider.jobs (url) from pstdin\nhttp://h/\nnope\nhttp://h/\n\\.\n"
            : "insert into postrider.jobs (url) values ('http://h/'), ('nope'), ('http://h/')"
        let refusal = try refusal(statement, queue)
        #expect(refusal.error == #"PR001: jobs.url: has no scheme | row 2, url "nope""#)
    }

    @Test(arguments: ["post", "Post", "POST", "delete"])
    func `a method is accepted in upper, lower or mixed case`(method: String) throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.jobs (url, method) values ('http://h/', '\(method)');
            select postrider.submit('{"url": "http://h/", "method": "\(method)"}');
            select postrider.submit('{"chain": [{"url": "http://h/", "method": "\(method)"}]}');
            """)
        let stored = try queue.rows("select distinct method from postrider.jobs where kind = 'request'").map(\.[0])
        #expect(stored == [method.uppercased()])
    }

    @Test func `an expires_at more than an hour in the past is refused, except for members`() throws {
        let queue = try TestQueue()
        let late = "now() - interval '61 min'"
        for run in ["", ", run_at"] {
            let refusal = try refusal(
                "insert into postrider.jobs (url, expires_at\(run)) values ('http://h/', \(late)\(run.isEmpty ? "" : ", now() - interval '2 h'"))",
                queue)
            #expect(refusal.error == "PR001: jobs.expires_at: is more than an hour in the past")
        }
        try queue.connection.execute(
            """
            insert into postrider.jobs (url, expires_at) values ('http://h/', now() - interval '59 min');
            begin; insert into postrider.jobs (kind) values ('batch');
            insert into postrider.jobs (url, parent_id, expires_at) select 'http://h/', max(id), \(late)
              from postrider.jobs; commit;
            """)
    }
}
