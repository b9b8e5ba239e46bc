// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

@testable import WorkerCLI

/// `worker retry --failed`, and the filters that it shares with `worker jobs`.
struct RetryCommandTests {
    /// Six failed jobs with the numbers 0 to 5, an hour apart, and one that succeeded.
    ///
    /// The even ones are of queue a, the others of b. The lane is l for every third job. Jobs 0 and 1 have the service
    /// billing, 2 and 3 the operation get, 4 and 5 the tag t. The error is connect from job 3 on.
    private static func fill(_ queue: borrowing TestQueue) throws {
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('billing', 'http://h/');
            insert into postrider.operations (name, spec) values ('get', '{"url": "http://h/"}');
            insert into postrider.jobs (url, queue, lane, service, tag)
            select 'http://h/' || i, case when i % 2 = 0 then 'a' else 'b' end, case when i % 3 = 0 then 'l' end,
                   case when i < 2 then 'billing' end, case when i > 3 then 't' end
              from generate_series(0, 6) i;
            set session_replication_role = replica;
            update postrider.jobs set operation = 'get' where right(url, 1)::int in (2, 3);
            reset session_replication_role;
            with gone as (delete from postrider_internal.ready returning *)
            insert into postrider_internal.results (job_id, attempt, track, state, error_code, finished_at, started_at)
            select g.job_id, 1, g.track, case when n.i = 6 then 's' else 'f' end::"char",
                   case when n.i < 3 then 'http_status' when n.i < 6 then 'connect' end,
                   now() - n.i * interval '1 hour', now()
              from gone g join (select id, right(url, 1)::int as i from postrider.jobs) n on n.id = g.job_id
            """)
    }

    private static let filters: [([String], String)] = [
        ([], "012345"), (["--queue", "a"], "024"), (["--queue", "a", "--queue", "b"], "012345"),
        (["--lane", "l"], "03"), (["--service", "billing"], "01"), (["--operation", "get"], "23"),
        (["--tag", "t"], "45"), (["--error", "connect"], "345"), (["--since", "150m"], "012"),
        (["--until", "150m"], "345"), (["--since", "210m", "--until", "90m"], "23"), (["--since", "7d"], "012345"),
        (["--since", "yesterday", "--until", "2999-12-31 10:00+01"], "012345"),
        (["--queue", "b", "--error", "connect", "--tag", "t"], "5"), (["--lane", "none"], ""),
    ]

    private func ids(_ output: String) -> String {
        output.split(separator: "\n").compactMap { line in
            line.firstMatch(of: /"url":"http:\/\/h\/(\d)"/).map { String($0.output.1) }
        }.sorted().joined()
    }

    @Test(arguments: RetryCommandTests.filters)
    func `jobs and retry --failed select the same failed jobs`(flags: [String], numbers: String) throws {
        let queue = try TestQueue()
        try Self.fill(queue)
        let rest = flags + ["--database", queue.database]
        let list = try WorkerProcess.run(["jobs", "--json", "--state", "failed"] + rest)
        #expect(ids(list.output) == numbers, "\(list)")
        let outcome = try WorkerProcess.run(["retry", "--failed", "--yes"] + rest)
        let jobs =
            numbers.count == 1 ? "1 of 1 failed job runs" : "\(numbers.count) of \(numbers.count) failed jobs run"
        #expect(outcome.output == (numbers.isEmpty ? "no failed job matches\n" : "\(jobs) again\n"))
        #expect(outcome.status == 0)
        let ready = try WorkerProcess.run(["jobs", "--json", "--state", "ready", "--database", queue.database])
        #expect(ids(ready.output) == numbers, "\(ready)")
    }

    @Test func `without a terminal retry --failed shows the count and needs --yes`() throws {
        let queue = try TestQueue()
        try Self.fill(queue)
        let words = ["retry", "--failed", "--database", queue.database]
        let outcome = try WorkerProcess.run(words + ["--queue", "a"], input: "y\n")
        #expect(outcome.status == 64)
        #expect(
            outcome.output
                == "worker: retry --failed: 3 failed jobs match; without a terminal, give --yes to run them again\n")
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 0)
    }

    @Test(arguments: [("y", Int32(0), 3), ("", 1, 0), ("n", 1, 0), ("nyes", 1, 0), ("YES", 0, 3)])
    func `on a terminal retry --failed asks first`(answer: String, status: Int32, ready: Int64) throws {
        let queue = try TestQueue()
        try Self.fill(queue)
        let folder = try TestFolder()
        try folder.shell("mkfifo keyboard")
        let command = "\(WorkerProcess.path) retry --failed --queue a --database '\(queue.database)'"
        let asking = try WatchedProcess([
            "/bin/sh", "-c", "exec /usr/bin/script -qec \"\(command)\" /dev/null 0<>\(folder.path("keyboard"))",
        ])
        try asking.wait(for: "3 failed jobs match. Run again? [y/N] ")
        try folder.shell("echo \(answer) >keyboard")
        #expect(try asking.status() == status, "\(asking.output)")
        #expect(try queue.number("select count(*) from postrider_internal.ready") == ready)
    }

    @Test func `many jobs run again in steps, in the order of their ids`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.jobs (url) select 'http://h/' || i from generate_series(1, 2500) i;
            with gone as (delete from postrider_internal.ready returning *)
            insert into postrider_internal.results (job_id, attempt, track, state, error_code, started_at)
            select job_id, 1, track, 'f', 'connect', now() from gone
            """)
        let folder = try TestFolder()
        let command = "\(WorkerProcess.path) retry --failed --yes --database '\(queue.database)'"
        let retrying = try WatchedProcess(["/usr/bin/script", "-qec", command, folder.path("log")])
        #expect(try retrying.status() == 0)
        #expect(retrying.output.contains("\r1000 of 2500 done\r2000 of 2500 done\r2500 of 2500 done\r\n"))
        #expect(retrying.output.hasSuffix("2500 of 2500 failed jobs run again\r\n"))
        let order =
            "select bool_and(job_id >= last) from (select job_id, lag(job_id, 1, 0::bigint) over (order by seq) as last from postrider_internal.ready) r"
        #expect(try queue.connection.query(order).bool(0, 0))
    }

    @Test func `a tree runs again once, and at_most_once jobs that may have acted are left out`() throws {
        let queue = try TestQueue()
        let target = try TargetServer()
        let root = try queue.submit(
            to: target, #"{"batch": [{"url": "URL/status/404"}, {"url": "URL/status/404"}]}"#)
        let single = try queue.insert(
            "url, method, delivery", "'\(target.url)/status/404', 'POST', 'at_most_once'")
        let worker = try RunningWorker(queue.database)
        try queue.wait(for: root, toBe: "failed")
        try queue.wait(for: single, toBe: "failed")
        worker.send(SIGKILL)
        let outcome = try WorkerProcess.run(["retry", "--failed", "--yes", "--database", queue.database])
        #expect(
            outcome.output == "1 of 4 failed jobs run again; the others cannot, or run with their batch or chain\n")
        #expect(try queue.state(single) == "failed")
    }

    @Test func `a job that failed again after its search is not retried`() throws {
        let queue = try TestQueue()
        try Self.fill(queue)
        let ids = "(select postrider_internal.find_failed_jobs())"
        #expect(try queue.number("select postrider_internal.retry_failed_step(\(ids), now() - interval '90 min')") == 4)
    }

    @Test func `only admins may search and retry failed jobs`() throws {
        let queue = try TestQueue()
        try Self.fill(queue)
        let words = ["retry", "--failed", "--yes", "--database"]
        let client = try WorkerProcess.run(words + [TestRole.client.database(queue.database)])
        #expect(client.status == 64)
        #expect(client.output.contains("permission denied for function find_failed_jobs"))
        let admin = try WorkerProcess.run(words + [TestRole.admin.database(queue.database)])
        #expect(admin == WorkerProcess.Outcome(status: 0, output: "6 of 6 failed jobs run again\n"))
    }

    @Test(arguments: [
        (["retry"], "retry ID: is missing; give the job's id, or --failed"),
        (["retry", "--failed", "7"], "--failed: cannot be combined with an id; give one of them"),
        (["retry", "7", "--queue", "a"], "--queue: is only for --failed; give --failed too, or leave it out"),
        (["retry", "7", "--yes"], "--yes: is only for --failed; give --failed too, or leave it out"),
        (["retry", "--failed", "--new-key"], "--new-key: is only for one job; leave it out, or give an id"),
        (
            ["retry", "--failed", "--error", "oops"],
            "--error: \"oops\" is not an error code; see select code from postrider.error_codes"
        ),
        (
            ["jobs", "--since", "soonish"],
            "--since: \"soonish\" is neither an age nor a time; give one like 2h or \"2026-12-24 18:00+01\""
        ),
    ])
    func `flags that do not fit end with 64 and a sentence`(words: [String], sentence: String) throws {
        let queue = try TestQueue(sharedBy: #function)
        let outcome = try WorkerProcess.run(words + ["--database", queue.database])
        #expect(outcome == WorkerProcess.Outcome(status: 64, output: "worker: \(sentence)\n"))
    }

    @Test(arguments: [
        (Int64(3), 3, nil, "3 of 3 failed jobs run again"), (1, 1, nil, "1 of 1 failed job runs again"),
        (0, 0, nil, "no failed job matches"),
        (2, 3, nil, "2 of 3 failed jobs run again; the others cannot, or run with their batch or chain"),
        (1000, 2500, 1000, "1000 of 2500 failed jobs run again; stopped by a signal after 1000"),
    ])
    func `the last line says how many jobs run again`(retried: Int64, found: Int, done: Int?, line: String) {
        #expect(FailedRetry.summary(retried, of: found, done: done) == line)
    }
}
