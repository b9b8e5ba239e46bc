// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// The lists of `jobs` and `show`, and the streams to which they are written.
struct ListingTests {
    private func ids(_ outcome: WorkerProcess.Outcome) -> [String] {
        outcome.output.split(separator: "\n").dropFirst().map { String($0.split(separator: " ").first ?? "") }
    }

    @Test func `jobs lists the jobs of several queues, in one state or in all states`() throws {
        let queue = try TestQueue()
        for name in ["mail", "sms", "mail", "other"] { try queue.insert("url, queue", "'http://h/', '\(name)'") }
        for state in [[], ["--state", "ready"]] {
            let words = ["jobs", "--database", queue.database] + state
            #expect(ids(try WorkerProcess.run(words + ["--queue", "mail", "--queue", "sms"])) == ["3", "2", "1"])
            // The queues in a worker's environment do not filter an operator's list.
            #expect(ids(try WorkerProcess.run(words, ["POSTRIDER_QUEUE": "sms, other"])) == ["4", "3", "2", "1"])
            #expect(ids(try WorkerProcess.run(words + ["--queue", "mail", "--limit", "1"])) == ["3"])
        }
    }

    @Test func `a client login can list its own jobs by state`() throws {
        let queue = try TestQueue()
        try queue.insert("url", "'http://h/'")
        let client = TestRole.client.database(queue.database)
        let own = try PGConnection(client).query(
            "insert into postrider.jobs (url) values ('http://h/own') returning id")
        let outcome = try WorkerProcess.run(["jobs", "--state", "ready", "--database", client])
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.split(separator: "\n").contains { $0.hasPrefix("\(own.int64(0, 0)) ") }, "\(outcome)")
    }

    @Test(.disabled(if: Sanitizer.isOn, "a sanitizer reserves more addresses than this test allows"))
    func `show reads only the beginning of a long body`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url", "'http://h/'")
        try queue.connection.execute(
            """
            delete from postrider_internal.ready;
            insert into postrider_internal.results (job_id, attempt, state, status_code, body)
            values (\(id), 1, 's', 200, convert_to(repeat('0123456789', 3000000), 'UTF8'))
            """)
        // A row with 30 MB of text in each column took 0.7 GB.
        let limited = "ulimit -v 400000 && exec \"$0\" \"$@\""
        let outcome = try WorkerProcess.run(
            ["/bin/sh", "-c", limited, WorkerProcess.path, "show", "\(id)", "--database", queue.database], reading: "")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains("\nbody              0123456789"))
        #expect(outcome.output.contains("… (30000000 bytes)\n"))
    }

    @Test func `show --json prints all columns with masked secrets, and the attempts as an array`() throws {
        let queue = try TestQueue()
        let target = try TargetServer()
        let url = "\(target.url)/status/503/x?token=secret"
        let id = try queue.insert("url, max_attempts, backoff", "'\(url)', 2, '{1 ms}'")
        let worker = try RunningWorker(queue.database)
        try queue.wait(for: id, toBe: "failed")
        worker.send(SIGKILL)
        let outcome = try WorkerProcess.run(["show", "\(id)", "--json", "--database", queue.database])
        #expect(outcome.status == 0)
        #expect(!outcome.output.contains("secret") && outcome.output.split(separator: "\n").count == 1)
        let checks = try queue.rows(
            """
            select j ->> 'state', jsonb_array_length(j -> 'attempts')::text, j -> 'attempts' -> 1 ->> 'attempt',
                   j -> 'attempts' -> 1 ->> 'status_code',
                   (select string_agg(a.attname, ' ') from pg_attribute a
                     where a.attrelid = 'postrider.job_status'::regclass and a.attnum > 0 and not j ? a.attname)
              from (values ('\(outcome.output)'::jsonb)) v (j)
            """)
        #expect(checks == [["failed", "2", "2", "503", nil]])
        let waiting = try queue.insert("url, run_at", "'\(target.url)/ok', now() + interval '1 h'")
        let other = try WorkerProcess.run(["show", "\(waiting)", "--json", "--database", queue.database])
        #expect(other.output.hasSuffix(",\"attempts\":[]}\n"), "\(other)")
        #expect(try WorkerProcess.run(["show", "4711", "--json", "--database", queue.database]).status == 64)
        let both = try WorkerProcess.run(["show", "\(id)", "--json", "--curl", "--database", queue.database])
        #expect(both == .init(status: 64, output: "worker: --json: cannot be combined with --curl; give one of them\n"))
    }

    @Test func `submit ends with 70 if standard output is closed, and the job is inserted`() throws {
        let queue = try TestQueue()
        let closed = "exec \"$0\" \"$@\" >&-"
        let words = ["/bin/sh", "-c", closed, WorkerProcess.path, "submit", "-", "--database", queue.database]
        let outcome = try WorkerProcess.run(words, reading: #"{"url": "http://h/"}"#)
        #expect(outcome.status == 70, "\(outcome)")
        #expect(
            outcome.output.contains("standard output: Bad file descriptor; the command is done"), "\(outcome)")
        #expect(try queue.number("select count(*) from postrider.jobs") == 1)
    }

    @Test func `a slow reader of a non-blocking pipe gets all lines`() throws {
        let queue = try TestQueue()
        try queue.insert(1000, "url", "'http://h/' || i")
        let program = """
            import os, subprocess, sys, time
            reader, writer = os.pipe()
            os.set_blocking(writer, False)
            worker = subprocess.Popen(sys.argv[1:], stdout=writer)
            os.close(writer)
            time.sleep(1)
            text = open(reader).read()
            print(worker.wait(), text.count("\\n"))
            """
        let words = ["jobs", "--json", "--limit", "1000", "--database", queue.database]
        let outcome = try WorkerProcess.run(
            [ProjectFolder.python(), "-c", program, WorkerProcess.path] + words, reading: "")
        #expect(outcome == WorkerProcess.Outcome(status: 0, output: "0 1000\n"))
    }
}
