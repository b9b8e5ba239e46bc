// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The leader prunes whole ranges of ids, and single rows where a range must stay.
final class PruneTests {
    private let queue: TestQueue
    private let leader: String

    init() throws {
        queue = try TestQueue()
        let worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'fixture', '0', null, 64, '{}', '{}')")
        leader = "\(worker), \(try queue.lead(worker))"
    }

    /// Fills the first range with ended jobs of an age in days, and uses up the rest of its ids.
    private func fill(_ count: Int, state: String = "s", days: Int) throws {
        try queue.stopAutovacuum(of: ["jobs_1", "results_1"])
        try queue.insert(count, "url, tag, dedupe_key", "'http://h/' || i, 'old', i::text")
        _ = try queue.number("select postrider.cancel_all(tag => 'old')")
        try age("true", state: state, days: days)
        _ = try queue.number("select setval('postrider.jobs_id_seq', greatest(1000001, max(id))) from postrider.jobs")
    }

    private func age(_ which: String, state: String, days: Int) throws {
        try queue.connection.execute(
            """
            update postrider_internal.results set state = '\(state)', finished_at = now() - interval '\(days) days'
              where \(which);
            update postrider_internal.jobs_1 j set created_at = now() - interval '\(days) days'
            """)
    }

    /// Prunes to the end of a round. Returns what each step pruned, and the wait at the end.
    private func round() throws -> [String] {
        var steps: [String] = []
        repeat {
            let step = try queue.rows(
                "select jobs::text, coalesce(dropped, '-'), wait_ms::text from postrider_internal.prune(\(leader))")[0]
            steps.append(step.map { $0 ?? "null" }.joined(separator: " "))
        } while steps.last?.hasSuffix(" 0") == true && steps.count < 50
        return steps
    }

    private func parts() throws -> String {
        try queue.text("select string_agg(part, ' ') from postrider_internal.job_ranges()") ?? ""
    }

    @Test func `prune drops a range whose jobs are all past retention`() throws {
        try fill(100, days: 31)
        try queue.connection.execute(
            """
            insert into postrider_internal.past_attempts (job_id, fence, started_at, worker, attempt) values (7, 1,
                now(), 1, 1), (1000002, 1, now(), 1, 1);
            insert into postrider_internal.hook_starts (job_id) values (7), (1000002)
            """)
        let young = try queue.insert("url", "'http://h/young'")
        #expect(try round() == ["100 jobs_1 from 1 to 1000000 0", "0 - 0", "0 - 600000"])
        #expect(try parts() == "2 overflow")
        #expect(try queue.text("select to_regclass('postrider_internal.results_1')::text") == nil)
        #expect(try queue.number("select count(*) from postrider.jobs") == 1)
        #expect(
            try queue.text("select string_agg(job_id::text, ' ') from postrider_internal.past_attempts") == "\(young)")
        #expect(
            try queue.text("select string_agg(job_id::text, ' ') from postrider_internal.hook_starts") == "\(young)")
        #expect(try queue.number("select count(*) from postrider_internal.prune_leftovers") == 0)
        let told = try queue.text("select postrider.explain(7)")
        #expect(
            told?.hasPrefix("Job 7 does not exist: jobs with ids from 1 to 1000000 were pruned on 20") == true,
            "\(told ?? "")")
        // A new range is added, and the ids of the dropped range have no jobs.
        #expect(
            try queue.text("select postrider_internal.extend_partitions(\(leader))") == "jobs_3 from 2000001 to 3000000"
        )
        _ = try queue.number("select postrider.cancel(\(young))::int")
        #expect(try queue.state(young) == "cancelled")
    }

    @Test func `a job retried during the search of its range runs again, and the range stays`() throws {
        let other = try queue.insert("url, tag", "'http://h/other', 'old'")
        try fill(50, state: "f", days: 91)
        // The search calls this function for each job. Here it does not end before the test allows it.
        try queue.connection.execute(
            """
            alter function postrider_internal.is_job_past_retention rename to is_outdated_at_once;
            create function postrider_internal.is_job_past_retention(
              a bigint, b boolean, c "char", d timestamptz, e timestamptz, f timestamptz) returns boolean language plpgsql as $$
            begin
              while not pg_try_advisory_lock(4711) loop perform pg_sleep(0.01); end loop;
              return postrider_internal.is_outdated_at_once(a, b, c, d, e, f);
            end $$;
            select pg_advisory_lock(4711)
            """)
        let (database, leader) = (queue.database, leader)
        let look = BackgroundThread {
            _ = try? PGConnection(database).query("select postrider_internal.prune(\(leader))")
        }
        try queue.wait(
            until: """
                select exists (select from pg_locks where locktype = 'advisory' and objid::int = -1
                               and mode = 'ExclusiveLock' and granted
                  and database = (select oid from pg_database where datname = current_database()))
                """)
        try queue.connection.execute("set lock_timeout = '1s'; select postrider.retry(\(other)); reset lock_timeout")
        try queue.connection.execute("select pg_advisory_unlock(4711)")
        look.join()
        #expect(try parts() == "1 2 overflow")
        #expect(try queue.state(other) == "ready")
        #expect(try queue.text("select url from postrider.job_status where id = \(other)") == "http://h/other")
        #expect(try queue.number("select count(*) from postrider_internal.rerun_jobs") == 1)
        // The next search finds the range and drops it.
        #expect(try round().first == "50 jobs_1 from 1 to 1000000 0")
        #expect(try parts() == "2 overflow")
        #expect(try queue.state(other) == "ready")
        #expect(try queue.number("select count(*) from postrider_internal.rerun_jobs") == 0)
    }

    @Test func `extend_partitions adds a range even between closely following transactions`() throws {
        _ = try queue.number("select setval('postrider.jobs_id_seq', 1600000)")
        let (database, leader) = (queue.database, leader)
        let client = try PGConnection(queue.database)
        // While a whole range is free ahead, no INSERT waits.
        _ = try queue.number("select setval('postrider.jobs_id_seq', 900000)")
        try client.execute("begin; insert into postrider.jobs (url) values ('http://h/')")
        #expect(try queue.text("select postrider_internal.extend_partitions(\(leader))") == nil)
        try client.execute("commit")
        _ = try queue.number("select setval('postrider.jobs_id_seq', 1600000)")
        for _ in 1...100 where try parts() == "1 2 overflow" {
            try client.execute("begin; insert into postrider.jobs (url) values ('http://h/')")
            let duty = BackgroundThread {
                _ = try? PGConnection(database).query("select postrider_internal.extend_partitions(\(leader))")
            }
            try? queue.waitUntilBlocked("select postrider_internal.extend_partitions")
            try client.execute("commit")
            duty.join()
        }
        #expect(try parts() == "1 2 3 overflow")
    }

    @Test func `prune moves jobs that are still needed from a dropped range to the overflow`() throws {
        try queue.insert("url, dedupe_key, metadata", "'http://h/waits', 'k', '{\"a\": 1}'")
        try queue.insert("url, run_at", "'http://h/later', now() + interval '1 day'")
        let chain = try queue.number(
            #"select postrider.submit('{"chain": [{"url": "http://h/1"}, {"url": "http://h/2"}]}')"#)
        try fill(50, days: 60)
        try age("job_id % 10 = 0", state: "f", days: 60)
        try queue.connection.execute("update postrider_internal.jobs_1 set created_at = now() - interval '60 days'")
        let rows = "select (to_jsonb(j) - 'elapsed')::text from postrider.job_status j"
        let before = try queue.rows(
            rows + " where state in ('ready', 'scheduled', 'failed', 'waiting', 'running') order by id")
        #expect(try round()[0] == "45 jobs_1 from 1 to 1000000 0")
        #expect(try queue.rows(rows + " order by id") == before)
        #expect(before.count == 10)
        #expect(try queue.number("select count(*) from postrider_internal.jobs_overflow") == 10)

        // The job in the overflow works like others: it can be claimed, cancelled, retried and pruned.
        let other = try queue.insert("url, dedupe_key, on_duplicate", "'http://h/same', 'k', 'error'", refused: true)
        #expect(other == "23505")
        _ = try queue.number("select postrider.cancel(\(chain))::int")
        try queue.wait(
            until:
                "select (postrider_internal.settle(0, true)).has_more is not null and not exists (select from postrider_internal.trees where state in ('w', 'o') or is_draining)"
        )
        #expect(try queue.state(chain) == "cancelled")
        #expect(try queue.number("select postrider.retry_failed()") == 5)
        #expect(try queue.number("select postrider.cancel_all()") >= 7)
        try queue.connection.execute(
            "update postrider_internal.results set finished_at = now() - interval '31 days'")
        #expect(try round().contains("10 - 0"))
        #expect(try queue.number("select count(*) from postrider.jobs") == 0)
    }

    @Test func `a range with too many jobs to keep is thinned out and dropped later`() throws {
        try fill(12_000, state: "f", days: 31)
        try age("job_id <= 1000", state: "s", days: 31)
        try queue.connection.execute("insert into postrider_internal.hook_starts (job_id) values (1000), (1001)")
        #expect(try round() == ["1000 - 0", "0 - 0", "0 - 0", "0 - 600000"])
        #expect(try parts() == "1 2 overflow")
        #expect(try queue.number("select count(*) from postrider.jobs") == 11_000)
        #expect(try queue.text("select string_agg(job_id::text, ' ') from postrider_internal.hook_starts") == "1001")
        try age("true", state: "f", days: 91)
        #expect(try round().first == "11000 jobs_1 from 1 to 1000000 0")
    }

    @Test func `prune keeps a range whose kept bodies exceed 64 MiB instead of copying them`() throws {
        try fill(10, days: 31)
        try queue.connection.execute(
            "update postrider_internal.results set body = (select string_agg(sha512(i::text::bytea), '') from generate_series(1, 150000) i), state = 'f' where job_id <= 8"
        )
        #expect(try round()[0] == "2 - 0")
        #expect(try parts() == "1 2 overflow")
    }

    @Test func `prune skips a full range whose last job is young, but not the filling range`() throws {
        try fill(20, days: 31)
        try queue.connection.execute("update postrider_internal.jobs_1 set created_at = now() where id = 20")
        #expect(try round() == ["0 - 600000"])
        #expect(try queue.number("select count(*) from postrider.jobs") == 20)
        _ = try queue.number("select setval('postrider.jobs_id_seq', 20)")
        #expect(try round().first == "20 - 0")
    }

    @Test(arguments: [
        ("null", "null", "0 - "), ("null", "'90 days'", "1 - 0"), ("'30 days'", "null", "19 - 0"),
        // The row stems from a time before such terms were refused.
        ("'9999 years'", "'9999 years'", "0 - "), ("'30 days'", "'9999 years'", "19 - 0"),
    ])
    func `a retention of null or of thousands of years keeps jobs forever`(
        retention: String, failed: String, first: String
    ) throws {
        try fill(20, days: 1000)
        try age("job_id = 20", state: "f", days: 1000)
        _ = try queue.number("select setval('postrider.jobs_id_seq', 20)")
        try queue.connection.execute(
            """
            alter table postrider.settings disable trigger settings_check;
            update postrider.settings set retention = \(retention), failed_retention = \(failed)
            """)
        #expect(try round()[0].hasPrefix(first))
    }

    @Test func `prune tries later while an open reader or retry blocks the drop of a range`() throws {
        try fill(20, days: 31)
        let other = try PGConnection(queue.database)
        // A transaction that has read jobs and stays open.
        try other.execute("begin; select count(*) from postrider.jobs")
        let start = TestClock.now
        #expect(try round() == ["0 - 60000"])
        #expect(TestClock.seconds(since: start) < 5)
        try other.execute("rollback; begin; select postrider.retry(20)")
        #expect(try round() == ["0 - 60000"])
        try other.execute("commit")
        #expect(try round()[0] == "19 jobs_1 from 1 to 1000000 0")
        #expect(try queue.state(20) == "ready")
    }

    @Test func `prune deletes a worker that ended 91 days ago`() throws {
        for days in [0, 31, 91] {
            let worker = try queue.number(
                "select worker from postrider_internal.enlist(0, 'w\(days)', '0', null, 64, '{}', '{}')")
            guard days > 0 else { continue }
            try queue.connection.execute(
                "update postrider_internal.workers set ended_at = now() - interval '\(days) days' where id = \(worker)")
        }
        #expect(try round() == ["0 - 600000"])
        #expect(
            try queue.text("select string_agg(name, ' ' order by id) from postrider_internal.workers")
                == "fixture w0 w31")
    }

    @Test func `a worker that does not lead prunes nothing`() throws {
        try fill(20, days: 31)
        let other = try queue.number(
            "select worker from postrider_internal.enlist(0, 'other', '0', null, 64, '{}', '{}')")
        #expect(
            try queue.rows("select jobs::text, dropped, wait_ms::text from postrider_internal.prune(\(other), 1)") == [
                ["0", nil, nil]
            ])
        #expect(try queue.number("select count(*) from postrider.jobs") == 20)
    }

    @Test func `prune deletes cache counters of a deleted service once no entry or delta is left`() throws {
        try queue.connection.execute(
            """
            insert into postrider.services (name) values ('there');
            insert into postrider_internal.cache_totals (service, outcome, jobs, entries, bytes)
            values ('', 'hit', 5, 0, 0), ('there', 'hit', 5, 0, 0), ('gone', 'stored', 2, 2, 90),
            ('gone', 'evicted', 2, -2, -90),
                   ('held', 'stored', 2, 2, 90), ('held', 'evicted', 1, -1, -40), ('unfolded', 'hit', 1, 0, 0),
                   ('busy', 'hit', 1, 0, 0), ('busy', 'miss', 1, 0, 0);
            insert into postrider_internal.cache_deltas (service, outcome, jobs) values ('unfolded', 'hit', 1)
            """)
        let fold = try PGConnection(queue.database)
        try fold.execute(
            "begin; update postrider_internal.cache_totals set jobs = 2 where service = 'busy' and outcome = 'hit'")
        let names = "select string_agg(distinct service, ' ' order by service) from postrider_internal.cache_totals"
        #expect(try round().last == "0 - 600000")
        #expect(try queue.text(names) == " busy held there unfolded")
        #expect(try queue.number("select sum(bytes)::bigint from postrider_internal.cache_totals") == 50)
        try fold.execute("commit; delete from postrider_internal.cache_deltas")
        #expect(try round().last == "0 - 600000")
        #expect(try queue.text(names) == " held there")
    }
}

extension TestQueue {
    /// The SQLSTATE with which a job is refused; empty if it is accepted.
    fileprivate func insert(_ columns: String, _ values: String, refused: Bool) throws -> String {
        do {
            try insert(columns, values)
            return ""
        } catch let error as PGError {
            return error.sqlState?.rawValue ?? "none"
        }
    }
}
