// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport

/// Simulates workers for tests of servers: it claims and prepares by SQL, and stores the ends of the test.
struct ServerFixture: ~Copyable {
    let queue: TestQueue

    /// A service `api` with servers `http://one/`, `http://two/`, `http://three/` at positions 1 to 3.
    ///
    /// Its rule sets a server aside for a minute after 10 calls with 20 % errors.
    init(servers: Int = 3, on cluster: PrivateCluster? = nil) throws {
        let queue = if let cluster { try TestQueue(on: cluster) } else { try TestQueue() }
        try queue.connection.execute(ClaimFixture.functions + Self.functions)
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, min_calls, error_rate, cool_down)
            values ('api', 'http://base/', 10, 0.2, '1 min');
            insert into postrider.servers (service, position, base_url)
            select 'api', n, ('{http://one/,http://two/,http://three/}'::text[])[n]
              from generate_series(1, \(servers)) n
            """)
        self.queue = queue
    }

    func worker(environment: String = "release") throws -> Int64 {
        try queue.number(
            "select worker from postrider_internal.enlist(0, 'fixture', '0', null, 100, '{}', '{}', '\(environment)')")
    }

    @discardableResult
    func insert(_ columns: String = "", _ values: String = "", url: String = "x") throws -> Int64 {
        try queue.insert(
            "service, url" + (columns.isEmpty ? "" : ", " + columns),
            "'api', '\(url)'" + (values.isEmpty ? "" : ", " + values))
    }

    /// Claims and prepares all ready jobs, in the order of their ids.
    ///
    /// Each has its job, its URL, and a `+` if the attempt can continue at another server.
    func take(_ worker: Int64) throws -> [(job: Int64, call: String)] {
        try queue.rows("select job::text, call from fixture.take(\(worker)) order by job").map {
            (Int64($0[0] ?? "") ?? 0, $0[1] ?? "")
        }
    }

    /// Claims and prepares all ready jobs. Returns only their calls.
    func calls(_ worker: Int64) throws -> [String] { try take(worker).map(\.call) }

    /// Ends a call with a verdict (`s`, `f`, `r`, `o` or `h`) and its evidence about the server.
    func end(_ job: Int64, _ verdict: String, _ health: String?) throws {
        try queue.connection.execute(
            "select fixture.finish(\(job), '\(verdict)', \(health.map { "'\($0)'" } ?? "null"))")
    }

    /// Makes so many calls at the current server, so many of them with errors.
    func run(_ worker: Int64, calls: Int, errors: Int) throws {
        try queue.insert(calls, "service, url", "'api', 'x'")
        for (place, call) in try take(worker).enumerated() {
            try end(call.job, place < errors ? "f" : "s", place < errors ? "f" : "w")
        }
    }

    /// The state, calls and errors of each server, in order.
    func servers() throws -> [String] {
        try queue.rows(
            "select state || ' ' || calls || ' ' || errors from postrider.servers order by environment, position"
        ).map { $0[0] ?? "" }
    }

    /// Runs the leader's check of the servers.
    func fold() throws {
        _ = try queue.number("select postrider_internal.fold_servers(clock_timestamp(), null, true)::bigint")
    }

    /// Ends the time for which a server is set aside.
    func reopen(_ position: Int) throws {
        try queue.connection.execute(
            "update postrider.servers set open_until = clock_timestamp() where position = \(position)")
    }

    private static let functions = """
        create table fixture.held (job bigint primary key, track int, seq bigint, fence bigint, worker int, server int);
        create function fixture.take(p_worker int) returns table (job bigint, call text) language plpgsql as $$
        declare
          t int[]; s bigint[]; f bigint[]; j bigint[];
        begin
          select c.t, c.s, c.f, c.j into t, s, f, j from fixture.claimed(p_worker) c;
          if j is null then return; end if;
          return query
          with called as materialized (
            select p.job_id, p.url, p.server, p.goes_on from postrider_internal.prepare(p_worker, null, t, s, f, j) p),
          noted as (
            insert into fixture.held
            select x.job, x.track, x.seq, x.fence, p_worker, c.server
              from called c join unnest(t, s, f, j) as x(track, seq, fence, job) on x.job = c.job_id
                on conflict on constraint held_pkey do update
               set track = excluded.track, seq = excluded.seq, fence = excluded.fence, worker = excluded.worker,
                   server = excluded.server)
          select c.job_id, c.url || case when c.goes_on then '+' else '' end from called c;
        end $$;
        create function fixture.finish(p_job bigint, p_verdict "char", p_health "char") returns void language plpgsql as $$
        declare
          h fixture.held;
          a postrider_internal.finished_attempt;
        begin
          delete from fixture.held where job = p_job returning * into h;
          a := postrider_internal.unsent_attempt(h.track, h.seq, h.fence, p_verdict, case when p_verdict <> 's'
                                                 then 'connect' end,
            case when p_verdict <> 's' then 'it failed' end);
          a.server := h.server;
          a.health := p_health;
          perform postrider_internal.finish(h.worker, array[a]);
        end $$;
        """
}
