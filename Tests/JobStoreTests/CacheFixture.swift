// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport

/// Simulates the worker for tests of the cache: it claims and prepares by SQL, and stores the answers of the test.
struct CacheFixture: ~Copyable {
    let queue: TestQueue
    let worker: Int64

    init() throws {
        let queue = try TestQueue()
        try queue.connection.execute(ClaimFixture.functions + Self.functions)
        let worker = try queue.number(
            "insert into postrider_internal.workers (name, version, concurrency) values ('fixture', '0', 100) returning id"
        )
        self.queue = queue
        self.worker = worker
    }

    /// Inserts a job with a `cache_ttl` of a minute for `http://h/a`. The arguments can replace or add columns.
    @discardableResult
    func insert(_ columns: String = "", _ values: String = "", url: String = "http://h/a", ttl: String = "1 min")
        throws -> Int64
    {
        try queue.insert(
            "url, cache_ttl" + (columns.isEmpty ? "" : ", " + columns),
            "'\(url)', '\(ttl)'" + (values.isEmpty ? "" : ", " + values))
    }

    /// Claims and prepares all ready jobs. Returns the jobs to call, in the order of their ids.
    func take(app: String? = nil, worker other: Int64? = nil) throws -> [Int64] {
        let list =
            try queue.text(
                "select array_to_string(fixture.take(\(other ?? worker), \(app.map { "'\($0)'" } ?? "null")), ' ')")
            ?? ""
        return list.split(separator: " ").compactMap { Int64($0) }
    }

    /// Ends a call that `take` returned, and returns the job's `look`.
    @discardableResult
    func answer(
        _ job: Int64, _ body: String = "body", status: Int = 200, headers: String = "content-type: text/plain",
        app: String? = nil, verdict: String = "s", code: String? = nil
    ) throws -> String {
        try queue.connection.execute(
            """
            select fixture.finish(\(app.map { "'\($0)'" } ?? "null"),
              fixture.attempt(\(job), \(status), '\(headers)' || chr(10), '\(body)', '\(verdict)',
                \(code.map { "'\($0)'" } ?? "null")))
            """)
        return try look(job)
    }

    /// The state, `attempts.cache`, `error_code`, status and body of a job, without those that are null.
    func look(_ job: Int64) throws -> String { try queue.text("select fixture.look(\(job))") ?? "" }

    /// Inserts a job, calls it and stores the answer.
    @discardableResult
    func fetch(_ columns: String = "", _ values: String = "", _ body: String = "body", headers: String = "x: y")
        throws -> String
    {
        let job = try insert(columns, values)
        guard try take() == [job] else { return try look(job) }
        return try answer(job, body, headers: headers)
    }

    private static let functions = """
        create table fixture.held (job bigint primary key, track int, seq bigint, fence bigint, worker int, headers text[]);
        create function fixture.take(p_worker int, p_app text) returns bigint[] language plpgsql as $$
        declare
          t int[]; s bigint[]; f bigint[]; j bigint[]; v_called bigint[];
        begin
          select c.t, c.s, c.f, c.j into t, s, f, j from fixture.claimed(p_worker) c;
          if j is null then return '{}'; end if;
          with called as (
            insert into fixture.held
            select x.job, x.track, x.seq, x.fence, p_worker, p.headers
              from postrider_internal.prepare(p_worker, p_app, t, s, f, j) p
              join unnest(t, s, f, j) as x(track, seq, fence, job) on x.job = p.job_id
                on conflict (job) do update
               set track = excluded.track, seq = excluded.seq, fence = excluded.fence, worker = excluded.worker,
                   headers = excluded.headers
            returning job)
          select coalesce(array_agg(job order by job), '{}') into v_called from called;
          return v_called;
        end $$;
        create function fixture.attempt(p_job bigint, p_status int, p_headers text, p_body text, p_verdict "char",
          p_code text) returns postrider_internal.finished_attempt language plpgsql as $$
        declare
          h fixture.held;
          a postrider_internal.finished_attempt;
        begin
          select * into h from fixture.held where job = p_job;
          a := postrider_internal.unsent_attempt(h.track, h.seq, h.fence, p_verdict, p_code, case
                                                 when p_code is not null then 'it failed' end);
          a.job_id := p_job;
          a.status := nullif(p_status, 0);
          a.headers := convert_to(p_headers, 'LATIN1');
          a.body := convert_to(p_body, 'UTF8');
          return a;
        end $$;
        create function fixture.finish(p_app text, variadic p_attempts postrider_internal.finished_attempt[])
          returns void language plpgsql as $$
        begin
          perform postrider_internal.judge((select worker from fixture.held where job = p_attempts[1].job_id), p_app,
                                           p_attempts);
          delete from fixture.held where job in (select job_id from unnest(p_attempts));
        end $$;
        create function fixture.look(p_job bigint) returns text language sql as $$
          select concat_ws(' ', s.state, a.cache, s.error_code, s.status_code, convert_from(s.body, 'UTF8'))
            from postrider.job_status s
            left join lateral (
                 select * from postrider.attempts a where a.job_id = s.id order by a.fence desc limit 1) a on true
           where s.id = p_job $$;
        """
}
