// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A worker with `--once` ends when no work is left.
struct OnceTests {
    /// Runs a worker with `--once`. It must exit with status 0 within this many seconds.
    private static func runOnce(
        _ database: String, within seconds: Double = 60, concurrency: Int = 64, _ words: [String] = ["--once"]
    ) throws -> RunningWorker {
        let worker = try RunningWorker(database, concurrency: concurrency, words)
        try TestClock.wait(seconds, for: "the worker to end:\n\(worker.output)") { !worker.isRunning }
        #expect(worker.wait() == 0)
        #expect(worker.count(of: "stopped") == 1 && worker.count(of: "handed_back") == 0, "\(worker.output)")
        return worker
    }

    @Test func `a --once worker without work ends at once, also if another worker leads`() throws {
        let queue = try TestQueue()
        let began = TestClock.now
        _ = try Self.runOnce(queue.database, within: 10)
        #expect(TestClock.now - began < 3_000_000_000)
        let leader = try RunningWorker(queue.database)
        try leader.wait(for: "leading")
        _ = try Self.runOnce(queue.database, within: 10)
        #expect(leader.isRunning)
    }

    @Test func `a --once worker ends after all jobs, steps and batches have ended`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200) }
        let queue = try TestQueue()
        try queue.insert(500, "url", "'\(target.url)/' || i")
        let step = #"{"url": "\#(target.url)/wait/30/s"}"#
        let batch = #"{"batch": [\#(step), {"chain": [\#(step), {"batch": [\#(step), \#(step)]}, \#(step)]}]}"#
        for steps in [[step, step, step, step, step], [batch, step, batch, batch, step]] {
            _ = try queue.number("select postrider.submit('{\"chain\": [\(steps.joined(separator: ","))]}')")
        }
        let worker = try Self.runOnce(queue.database)
        #expect(try queue.states() == "succeeded 533")
        #expect(target.requests.count == 500 + 5 + 3 * 5 + 2)
        #expect(worker.count(of: "work_left") == 0)
        #expect(try queue.number("select count(*) from postrider_internal.job_deltas") == 0)
    }

    @Test func `a --once worker feeds and calls a large INSERT before it ends`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.insert(20_000, "url, tag", "'\(target.url)/ok', 'large'")
        #expect(try queue.number("select count(*) from postrider_internal.intake") > 0)
        try queue.insert("url, priority", "'\(target.url)/ok', 4")
        _ = try Self.runOnce(queue.database, within: 120)
        #expect(try queue.number("select count(*) from postrider_internal.results where state = 's'") == 20_001)
    }

    @Test func `a --once worker also runs jobs that callbacks insert`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            create function public.again(p_job bigint) returns void language sql security definer as
            $$insert into postrider.jobs (url, on_success) select url, case when count < 3 then 'again' end
                from (select url, (select count(*) from postrider.jobs) as count from postrider.jobs
                      where id = p_job) j$$;
            grant usage on schema public to public; grant execute on function public.again to public;
            insert into postrider.callbacks (name, function) values ('again', 'public.again(bigint)')
            """)
        try queue.insert("url, on_success", "'\(target.url)/ok', 'again'")
        let worker = try Self.runOnce(queue.database)
        #expect(try queue.states() == "succeeded 4", "\(worker.output)")
    }

    @Test func `a --once worker waits for limits and short pauses, not for scheduled jobs and long pauses`() throws {
        let target = try TargetServer { request in
            switch request.path.split(separator: "/").first {
            case "busy": TargetStep.answer(503)
            case "later" where request.turn == 1: TargetStep.answer(429, headers: ["Retry-After: 2"])
            default: TargetStep.answer(200)
            }
        }
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.lanes (name, rate_limit, rate_period) values ('slow', 5, '1 s');
            select postrider.pause_lane('held'), postrider.pause_lane('long', now() + interval '1 min'),
                   postrider.pause_queue('closed');
            """)
        let url = target.url
        try queue.insert(12, "url, lane, tag", "'\(url)/ok', 'slow', 'done'")
        try queue.insert("url, lane, tag", "'\(url)/later', 'later', 'done'")
        for lane in ["held", "long"] { try queue.insert(3, "url, lane, tag", "'\(url)/ok', '\(lane)', 'left'") }
        try queue.insert(3, "url, queue, tag", "'\(url)/ok', 'closed', 'left'")
        try queue.insert("url, run_at, tag", "'\(url)/ok', now() + interval '1 min', 'left'")
        try queue.insert("url, backoff, tag", "'\(url)/busy', '{1 min}', 'left'")
        let worker = try Self.runOnce(queue.database)
        let left = try queue.rows(
            "select tag, state, count(*)::text from postrider.job_status group by 1, 2 order by 1, 2")
        #expect(
            left == [["done", "succeeded", "13"], ["left", "ready", "9"], ["left", "scheduled", "2"]], "\(left)")
        #expect(worker.count(of: "work_left") == 0)
    }

    @Test func `a --once worker waits only for its own queues`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200) }
        let queue = try TestQueue()
        try queue.insert(3_000, "url", "'\(target.url)/other'")
        try queue.insert(10, "url, queue", "'\(target.url)/mine', 'mail'")
        _ = try Self.runOnce(queue.database, ["--once", "--queue", "mail"])
        let states = try queue.states()
        let mine = "select count(*) from postrider.job_status where queue = 'mail' and state = 'succeeded'"
        #expect(try queue.number(mine) == 10, "\(states)")
        #expect(target.requests("/other").isEmpty)
    }

    @Test func `a --once worker runs the jobs of a dead worker`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        let job = try queue.insert("url", "'\(target.url)/ok'")
        try queue.connection.execute(
            """
            update postrider_internal.ready set worker = e.worker, fence = 1, attempt = 1,
              since = now() - interval '1 min'
              from postrider_internal.enlist(0, 'died', '0.1.0', null, 8, '{}', '{}') e;
            update postrider_internal.workers set heartbeat_at = now() - interval '1 min', in_flight = 1
            """)
        let worker = try Self.runOnce(queue.database)
        #expect(worker.count(of: "worker_reaped") == 1)
        #expect(try queue.state(job) == "succeeded")
    }

    @Test(.enabled(if: Soak.isOn)) func `a --once worker leaves a job locked for over a minute and logs work_left`()
        throws
    {
        let target = try TargetServer()
        let queue = try TestQueue()
        let job = try queue.insert("url", "'\(target.url)/ok'")
        let holder = try PGConnection(queue.database)
        try holder.execute("begin; select from postrider_internal.ready where job_id = \(job) for update")
        let worker = try Self.runOnce(queue.database, within: 100)
        #expect(worker.count(of: "work_left") == 1)
        #expect(try queue.state(job) == "ready")
        try holder.execute("rollback")
    }
}
