// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import PrivateCluster
import TestSupport
import Testing

/// Stale statistics of a queue table.
///
/// An ANALYZE at a quiet moment records that the table is empty. Every plan relies on that until the next ANALYZE,
/// however long the queue is by then.
struct StaleStatisticsTests {
    private let cluster: PrivateCluster
    /// Partitions of jobs and results are among them. The leader makes each partition long before its first row, so a
    /// VACUUM may find it empty.
    private static let tables =
        """
        '{ready,scheduled,members,trees,tree_deltas,job_deltas,outcomes,cache_waits,cache_flights,credential_waits,\
        dedupe_keys,jobs_1,results_1,filled_templates,cache_entries}'::text[]
        """

    init() throws { cluster = try TestQueue.quietCluster() }

    @Test func `jobs of every kind read under 1,000 rows each although statistics say tables are empty`() throws {
        let target = try TargetServer()
        let api = try TokenAPI(#"{"expired": ["a1"]}"#)
        let queue = try TestQueue(on: cluster)
        try Self.fill(queue)
        try Self.forget(queue)
        let first = try queue.number("select max(id) + 1 from postrider.jobs")
        let before = try Self.rowsRead(queue)

        let worker = try api.worker(queue, concurrency: 4)
        try worker.wait(for: "enlisted")
        for _ in 1...4 { try Self.work(queue, target, api) }
        try queue.wait(
            60,
            until: """
                select (select count(*) from postrider.jobs j where j.id >= \(first))
                       = (select count(*) from postrider_internal.results r where r.job_id >= \(first))
                """)
        #expect(worker.end(SIGTERM) == 0)

        let jobs = try queue.number("select count(*) from postrider.jobs where id >= \(first)")
        let read = try Self.rowsRead(queue) - before
        // About 90 rows per job, including scans of the ready table when a worker starts or stops. With the planner's
        // own join order: 7,000 to 14,000.
        #expect(read < jobs * 1000, "\(read) rows for \(jobs) jobs")
    }

    @Test func `an INSERT of duplicates uses the dedupe_key index although statistics say the table is empty`() throws {
        let queue = try TestQueue(on: cluster)
        try Self.forget(queue)
        let before = try Self.rowsRead(queue)
        try queue.insert(8_000, "url, dedupe_key, on_duplicate", "'http://h/' || i, i / 2, 'skip'")
        #expect(try queue.number("select count(*) from postrider.jobs") == 4_001)
        let read = try Self.rowsRead(queue) - before
        // Two or three rows each. A scan of the table for each duplicate would read eight million rows.
        #expect(read < 100_000, "\(read)")
    }

    /// Inserts 15,000 ready jobs, 9,000 scheduled jobs and 2,000 batches of three, all in a paused queue. Puts
    /// 5,000 answers into the cache.
    private static func fill(_ queue: borrowing TestQueue) throws {
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority) values ('held',
                postrider_internal.url_lane('http://h/'), 0);
            select postrider.pause_queue('held')
            """)
        try queue.insert(9_000, "queue, url", "'held', 'http://h/' || i")
        try queue.insert(9_000, "queue, url, run_at", "'held', 'http://h/' || i, now() + interval '1 day'")
        try queue.connection.execute(
            """
            with root as (insert into postrider.jobs (kind, queue) select 'batch', 'held' from generate_series(1, 2000)
                          returning id)
            insert into postrider.jobs (parent_id, queue, url) select id, 'held', 'http://h/' || i
              from root, generate_series(1, 3) i;
            select count(postrider.cache_put(jsonb_build_object('url', 'http://h/' || i), '{}'::jsonb))
              from generate_series(1, 5000) i
            """)
    }

    /// Writes the statistics of a table whose rows are gone and whose pages remain.
    private static func forget(_ queue: borrowing TestQueue) throws {
        try queue.connection.execute(
            """
            update pg_class c set reltuples = 0, relpages = 1
              from pg_class t left join pg_index i on i.indrelid = t.oid
             where t.relnamespace = any (postrider_internal.own_schemas())
               and t.relname = any (\(tables)) and c.oid in (t.oid, i.indexrelid)
            """)
    }

    /// The rows and index entries of those tables that all sessions have read so far.
    private static func rowsRead(_ queue: borrowing TestQueue) throws -> Int64 {
        _ = try queue.number("select 1 from (select pg_stat_force_next_flush()) f")
        return try queue.number(
            """
            select (select sum(t.seq_tup_read) from pg_stat_user_tables t
                     where t.schemaname in ('postrider', 'postrider_internal') and t.relname = any (\(tables)))::bigint
                   + (select sum(i.idx_tup_read) from pg_stat_user_indexes i
                       where i.schemaname in ('postrider', 'postrider_internal')
                         and i.relname = any (\(tables)))::bigint
            """)
    }

    /// Runs some jobs of each kind.
    private static func work(_ queue: borrowing TestQueue, _ target: TargetServer, _ api: TokenAPI) throws {
        let url = target.url
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('one', '\(url)') on conflict do nothing;
            insert into postrider.services (name) values ('two') on conflict do nothing;
            insert into postrider.servers (service, position, base_url) values ('two', 1, '\(url)/ok/a'),
              ('two', 2, '\(url)/ok/b')
              on conflict do nothing;
            insert into postrider.services (name, base_url, cookies) values ('jar', '\(url)', true) on conflict do nothing;
            insert into postrider.services (name, base_url, stub) values ('stub', '\(url)', '[{"status": 200}]')
              on conflict do nothing;
            insert into postrider.lanes (name, max_in_flight) values ('narrow', 2) on conflict do nothing;
            insert into postrider.credentials (name, kind, token_url, client_id)
            values ('c', 'oauth2_refresh_token', '\(api.url)/token', 'app') on conflict do nothing;
            select postrider.log_in('c', '{"access_token": "a1", "refresh_token": "r1"}')
            """)
        try queue.insert(20, "url", "'\(url)/ok/' || i")
        try queue.insert(5, "url, max_attempts, backoff", "'\(url)/status/500,200/' || i, 2, '{10 ms}'")
        try queue.insert(5, "url, lane", "'\(url)/wait/5/' || i, 'narrow'")
        try queue.insert(5, "url, run_at", "'\(url)/ok/' || i, now() + interval '100 ms'")
        try queue.insert(5, "url, expires_at", "'\(url)/wait/50/' || i, now() + interval '60 ms'")
        try queue.insert(5, "service, url", "'two', '/' || i")
        try queue.insert(5, "credential, url", "'c', '\(api.url)/api/' || i")
        try queue.insert(10, "service, url, cache_ttl", "'one', '/wait/20/' || i % 2, '10 ms'")
        try queue.insert(5, "url, callback_url", "'\(url)/ok/' || i, '\(url)/ok/hook'")
        try queue.insert(5, "service, url", "'jar', '/ok/' || i")
        try queue.insert(5, "service, url", "'stub', '/ok/' || i")
        try queue.insert(5, "method, service, url", "'DELETE', 'one', '/ok/' || i")
        try queue.insert(6, "url, dedupe_key, on_duplicate", "'\(url)/ok/' || i, i % 3, 'skip'")
        _ = try queue.number(
            """
            select postrider.submit('{"chain": [
              {"name": "a", "url": "\(url)/ok/a", "response_format": "json"},
              {"name": "b", "mode": "settle", "batch": [{"name": "m", "url": "\(url)/ok/m"}, {"url": "\(url)/status/404"}]},
              {"run_if": "$.b.m.status == 200", "url": "\(url)/ok/{{a.status}}/{{prev.m.status}}"},
              {"batch": {"each": [1, 2, 3], "do": {"url": "\(url)/ok/{{item}}"}}, "max_parallel": 1}]}')
            """)
        let id = try queue.insert("url, run_at", "'\(url)/ok/later', now() + interval '1 h'")
        _ = try queue.text("select postrider.explain(\(id))")
        for verb in ["reschedule(\(id), now() + interval '2 h')", "cancel(\(id))", "retry(\(id))"] {
            _ = try queue.text("select postrider.\(verb)::text")
        }
    }
}
