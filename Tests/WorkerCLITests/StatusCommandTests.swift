// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The lists of queues, lanes, schedules, services and workers, and the picture of `worker top`.
struct StatusCommandTests {
    private func filled() throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('billing', 'http://me:secret@h:81/');
            insert into postrider.servers (service, position, base_url) values ('billing', 1, 'http://h:81/');
            insert into postrider.lanes (name, max_in_flight, rate_limit) values ('slow', 2, 10);
            insert into postrider.schedules (name, cron, spec) values ('nightly', '0 3 * * *', '{"url": "http://h/"}');
            insert into postrider.jobs (url, queue) values ('http://h/', 'mail');
            select postrider.pause_queue('mail'), postrider.pause_lane('slow');
            insert into postrider_internal.workers (name, version, concurrency) values ('host:1', '0.1.0', 8)
            """)
        return queue
    }

    @Test(arguments: [
        ("queues", "queue_status", "mail   paused"), ("lanes", "lane_status", "slow  pause"),
        ("schedules", "schedule_status", "nightly  on     0 3 * * *"), ("services", "service_status", "billing"),
        ("workers", "worker_status", "host:1"),
    ])
    func `a list prints its view as a table, and with --json as one object a line`(
        command: String, view: String, line: String
    ) throws {
        let queue = try filled()
        let table = try WorkerProcess.run([command, "--database", queue.database])
        #expect(table.status == 0)
        let lines = table.output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix(line) }, "\(table.output)")
        #expect(lines[0].uppercased() == lines[0])
        #expect(!table.output.contains("\u{1b}") && !table.output.contains("secret"))
        let json = try WorkerProcess.run([command, "--json", "--database", queue.database])
        #expect(json.status == 0)
        let rows = json.output.split(separator: "\n").map { "'\($0)'::jsonb" }.joined(separator: ", ")
        let columns = try queue.number(
            """
            select count(*) from pg_attribute a where a.attrelid = 'postrider.\(view)'::regclass and a.attnum > 0
               and (select bool_and(r ? a.attname) from unnest(array[\(rows)]) r)
            """)
        let all = try queue.number(
            "select count(*) from pg_attribute where attrelid = 'postrider.\(view)'::regclass and attnum > 0")
        #expect(columns == all && all > 5, "\(json.output)")
    }

    @Test func `lists are read by a reader and refused to a client`() throws {
        let queue = try filled()
        let reader = try WorkerProcess.run(["lanes", "--database", TestRole.reader.database(queue.database)])
        #expect(reader.status == 0, "\(reader.output)")
        let client = try WorkerProcess.run(["lanes", "--database", TestRole.client.database(queue.database)])
        #expect(client.status == 64)
        #expect(client.output.contains("permission denied for view lane_status"))
    }

    @Test func `top prints one picture to a file, with failures, lanes, queues and workers`() throws {
        let queue = try filled()
        try queue.connection.execute(
            """
            insert into postrider.jobs (url, service) select 'http://h:81/' || i, 'billing' from generate_series(1, 3) i;
            with gone as (delete from postrider_internal.ready r using postrider.jobs j
                           where j.id = r.job_id and j.service = 'billing' returning r.*)
            insert into postrider_internal.results (job_id, attempt, track, state, error_code, status_code, started_at)
            select g.job_id, 1, g.track, 'f', 'http_status', 503, now() from gone g
            """)
        let outcome = try WorkerProcess.run(["top", "--database", queue.database])
        #expect(outcome.status == 0)
        for text in [
            "  workers: 1 running, 0 of 8 calls in flight\n", "jobs: 1 ready, 0 running, 0 scheduled, ",
            "\nJOBS  LAST", "   3  ", "failed  billing  billing  http_status     503\n", "\nLANE ", "\nslow  pause",
            "\nQUEUE ", "\nmail   paused ", "\nWORKER ", "\nhost:1  running",
        ] {
            #expect(outcome.output.contains(text), "\(text) in\n\(outcome.output)")
        }
        #expect(!outcome.output.contains("\u{1b}"))
    }

    @Test(arguments: [[:], ["NO_COLOR": "1"], ["TERM": "dumb"]])
    func `top draws on a terminal until q, with colours unless NO_COLOR is set`(variables: [String: String]) throws {
        let queue = try filled()
        let folder = try TestFolder()
        try folder.shell("mkfifo keyboard")
        let command = "stty cols 100 rows 30; \(WorkerProcess.path) top --interval 500ms --database '\(queue.database)'"
        let setting = variables.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        let drawing = try WatchedProcess([
            "/bin/sh", "-c",
            "exec env -u NO_COLOR TERM=xterm \(setting) /usr/bin/script -qec \"\(command)\" /dev/null 0<>\(folder.path("keyboard"))",
        ])
        try drawing.wait(for: "workers: 1 running", times: 3)
        #expect(drawing.output.contains("\u{1b}[33mpaused\u{1b}[0m") == variables.isEmpty)
        #expect(drawing.output.contains("\u{1b}[?25l"))
        try folder.shell("printf q >keyboard")
        #expect(try drawing.status() == 0)
        #expect(drawing.output.contains("\u{1b}[?7h\u{1b}[?25h"))
    }
}
