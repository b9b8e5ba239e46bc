// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport
import Testing

/// Shortages of the database while results are written. No job fails because of them.
struct ShortageTests {
    /// A session takes as many advisory locks as the server has room for.
    private static let takesAllLocks = """
        do $$ begin
          for i in 1..10000000 loop perform pg_advisory_lock(7, i); end loop;
        exception when out_of_memory then null;
        end $$
        """

    @Test(arguments: Soak.isOn ? [20_000, 35_000] : [1_500])
    func `if a role takes all locks during calls, each job still ends with its answer`(milliseconds: Int) throws {
        let cluster = try PrivateCluster(.init(settings: ["max_connections": "40"]))
        defer { cluster.remove() }
        let target = try TargetServer { _ in [.held] + TargetStep.answer(200, #"{"id": 7, "list": [1, 2, 3]}"#) }
        let queue = try TestQueue(on: cluster)
        let workers = [
            try RunningWorker(queue.database, concurrency: 16), try RunningWorker(queue.database, concurrency: 16),
        ]
        let delivery = "case when i % 2 = 0 then 'at_most_once' else 'at_least_once' end"
        try queue.insert(12, "method, url, delivery", "'POST', '\(target.url)/plain/' || i, \(delivery)")
        try queue.insert(
            12, "method, url, delivery, extract", "'POST', '\(target.url)/judged/' || i, \(delivery), '$.id'")
        for number in 1...6 {
            let once = number % 2 == 0 ? #", "delivery": "at_most_once""# : ""
            let first = #"{"name": "a", "method": "POST", "url": "\#(target.url)/chain/\#(number)"\#(once)}"#
            let second = #"{"url": "\#(target.url)/chain/\#(number)/{{a.body.id}}"}"#
            let third =
                #"{"batch": {"each": "{{a.body.list}}", "do": {"url": "\#(target.url)/chain/\#(number)/item/{{item}}"}}}"#
            try queue.connection.execute("select postrider.submit('{\"chain\": [\(first), \(second), \(third)]}')")
        }
        try TestClock.wait(20, for: "30 calls") { target.underWay == 30 }
        // Two of these jobs are called, the others wait.
        try queue.insert(
            20, "method, url, delivery, extract", "'POST', '\(target.url)/later/' || i, \(delivery), '$.id'")
        try TestClock.wait(20, for: "32 calls") { target.underWay == 32 }
        do {
            let hostile = try TestRole.nobody.connect(queue)
            try hostile.execute(Self.takesAllLocks)
            #expect(TestRole.refusal(of: "select pg_advisory_xact_lock(8, 1)", queue.connection) == "53200")
            target.release()
            for worker in workers { try worker.wait(for: "results_refused") }
            TestClock.sleep(milliseconds: milliseconds)
            try hostile.execute("select pg_advisory_unlock_all()")
        }
        try queue.waitUntilDone(90)
        try queue.report(.final, attack: "a role takes all locks of the server", calls: target.requests.count)
        #expect(try queue.states() == "succeeded \(12 + 12 + 20 + 6 * 7)")
        #expect(try queue.number("select count(*) from postrider_internal.results where error_code is not null") == 0)
        let repeated = try queue.rows(
            "select url from postrider.jobs where delivery = 'at_most_once' and kind = 'request'"
        ).filter { row in target.requests((row[0] ?? "").replacing(target.url, with: "")).count != 1 }
        #expect(repeated == [])
        #expect(target.requests.count == 12 + 12 + 20 + 6 * 5)
        #expect(
            try queue.number(
                "select count(*) from postrider_internal.results r join postrider.jobs j on j.id = r.job_id where j.extract is not null and r.result = '7'"
            )
                == 32)
        for worker in workers { #expect(worker.count(of: "result_unstorable") == 0) }
    }

    /// Makes the table `app.fault`. A row in it makes the database raise its error at the named place.
    private static func makeFaults(_ queue: borrowing TestQueue) throws {
        try queue.connection.execute(
            """
            create schema app;
            create table app.fault (place text, code text);
            create function app.fail(p_place text) returns void language plpgsql security definer as $$
            declare
              v_code text := (select f.code from app.fault f where f.place = p_place limit 1);
            begin
              if v_code is not null then
                raise exception 'injected' using errcode = v_code;
              end if;
            end $$;
            create function app.fail_row() returns trigger language plpgsql as $$
            begin
              perform app.fail(tg_argv[0]);
              return new;
            end $$;
            grant usage on schema app to public;
            create trigger fails before insert
              on postrider_internal.results for each row execute function app.fail_row('results')
            """)
    }

    private func begin(_ queue: borrowing TestQueue, _ place: String, _ code: String = "53200") throws {
        try queue.connection.execute("insert into app.fault values ('\(place)', '\(code)')")
    }

    private func end(_ queue: borrowing TestQueue) throws { try queue.connection.execute("delete from app.fault") }

    @Test(arguments: ["53200", "XX000", "40001", "P0001"])
    func `results that the database refuses for a while hold no slot, are reported and later stored`(code: String)
        throws
    {
        let target = try TargetServer { request in
            request.path.hasPrefix("/held") ? [.held] + TargetStep.answer(200, #"{"a": 1}"#) : TargetStep.answer(200)
        }
        let queue = try TestQueue()
        try Self.makeFaults(queue)
        let watched = try WatchedWorker(queue.database)
        try queue.insert(
            4, "url, delivery",
            "'\(target.url)/held/' || i, case when i > 2 then 'at_most_once' else 'at_least_once' end")
        try queue.insert(
            4, "url, extract, delivery",
            "'\(target.url)/held/' || 4 + i, '$.a', case when i > 2 then 'at_most_once' else 'at_least_once' end")
        try TestClock.wait(20, for: "8 calls") { target.underWay == 8 }
        try begin(queue, "results", code)
        target.release()
        try watched.worker.wait(for: "results_refused")
        try queue.wait(
            until:
                "select results_waiting = 8 and in_flight = 0 and results_waiting_since < now() from postrider.worker_status"
        )
        let id = try queue.number("select min(id) from postrider.jobs")
        let words = try queue.text("select postrider.explain(\(id))") ?? ""
        #expect(words.contains("its call has ended, but the database has refused results since "), "\(words)")
        try watched.wait(until: "/readyz", hasStatus: 503)
        #expect(
            try watched.pages.read("/readyz").lines.first?.hasPrefix("the database has refused all results for") == true
        )
        #expect(try watched.status("/healthz") == 200)
        #expect(try watched.pages.read("/metrics").lines.contains("postrider_worker_results_waiting 8"))
        try end(queue)
        try queue.waitUntilDone(60)
        #expect(try queue.states() == "succeeded 8")
        #expect(
            try queue.number("select count(*) from postrider_internal.results where attempt = 1 and status_code = 200")
                == 8)
        #expect(target.requests.count == 8)
        try watched.wait(until: "/readyz", hasStatus: 200)
        try queue.wait(
            until: "select results_waiting = 0 and results_waiting_since is null from postrider.worker_status")
    }

    /// Lets `job_url` fail in `prepare` for URLs with this ending.
    private static func failPreparations(_ queue: borrowing TestQueue, of ending: String) throws {
        try queue.connection.execute(
            """
            alter function postrider_internal.job_url(text, boolean, postrider.services) rename to job_url_indeed;
            create function postrider_internal.job_url(p_url text, p_use_cdn boolean, p_service postrider.services) returns text
            language plpgsql as $$
            begin
              if current_query() like '%postrider_internal.prepare(%' and p_url like '%\(ending)' then
                perform app.fail('prepare');
              end if;
              return postrider_internal.job_url_indeed(p_url, p_use_cdn, p_service);
            end $$;
            grant execute on function postrider_internal.job_url(text, boolean, postrider.services) to public
            """)
    }

    @Test func `jobs that cannot be prepared during a shortage return to scheduled without using an attempt`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try Self.makeFaults(queue)
        try Self.failPreparations(queue, of: "")
        let worker = try RunningWorker(queue.database, concurrency: 4)
        defer { worker.kill() }
        try begin(queue, "prepare")
        try queue.insert(8, "url, result_type", "'\(target.url)/ok/rich/' || i, 'object'")
        try queue.wait(until: "select count(*) > 0 from postrider_internal.scheduled")
        try queue.insert(4, "url", "'\(target.url)/ok/plain/' || i")
        try queue.wait(30, until: "select count(*) = 4 from postrider_internal.results")
        #expect(try queue.states().contains("failed") == false)
        #expect(target.requests.count == 4)
        try end(queue)
        try queue.waitUntilDone(90)
        #expect(try queue.states() == "succeeded 12")
        #expect(try queue.number("select count(*) from postrider_internal.results where attempt = 1") == 12)
        #expect(target.requests.count == 12)
    }

    @Test func `a job that alone cannot be prepared is retried and fails after 15 minutes`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try Self.makeFaults(queue)
        try Self.failPreparations(queue, of: "/evil")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try begin(queue, "prepare")
        try queue.connection.execute("begin")
        let evil = try queue.insert("url, result_type, delivery", "'\(target.url)/ok/evil', 'object', 'at_most_once'")
        try queue.insert(20, "url, result_type", "'\(target.url)/ok/' || i, 'object'")
        try queue.connection.execute("commit")
        try queue.wait(until: "select count(*) = 20 from postrider_internal.results")
        // Other jobs are prepared from time to time. A refusal counts only then.
        var count = 20
        try TestClock.wait(40, for: "3 refusals in a row") {
            count += 1
            try queue.insert("url, result_type", "'\(target.url)/ok/\(count)', 'object'")
            return try queue.number("select postrider_internal.refusals_in_row(\(evil))::bigint") >= 3
        }
        #expect(try queue.state(evil) != "failed")
        try queue.connection.execute("update postrider_internal.past_attempts set refusals = 40 where job_id = \(evil)")
        try TestClock.wait(40, for: "the end of the job") {
            count += 1
            try queue.insert("url, result_type", "'\(target.url)/ok/\(count)', 'object'")
            return try queue.state(evil) == "failed"
        }
        let row = try queue.rows(
            "select error_code, attempt::text, error from postrider.job_status where id = \(evil)")[0]
        #expect(
            row[0] == "internal" && row[1] == "1" && row[2]?.contains("for 15 minutes while it prepared others") == true
        )
        #expect(!target.requests.contains { $0.path == "/ok/evil" })
        try queue.waitUntilDone()
        #expect(try queue.states() == "failed 1, succeeded \(count)")
    }

    @Test func `a chain continues after a shortage, or fails after 15 minutes of shortage`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200, #"{"id": 7, "list": [1, 2, 3]}"#) }
        let queue = try TestQueue()
        try Self.makeFaults(queue)
        try queue.connection.execute(
            """
            alter function postrider_internal.answer_value(bytea, bytea, text) rename to answer_value_indeed;
            create function postrider_internal.answer_value(
              p_headers bytea, p_body bytea, p_encoding text, out value jsonb, out defect text)
            language plpgsql as $$
            begin
              perform app.fail('answer');
              select i.* into value, defect
                from postrider_internal.answer_value_indeed(p_headers, p_body, p_encoding) i;
            end $$;
            grant execute on function postrider_internal.answer_value(bytea, bytea, text) to public;
            create trigger fails before insert on postrider.jobs for each row when (new.parent_id is not null)
              execute function app.fail_row('member')
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try begin(queue, "answer")
        let held = try queue.number(
            """
            select postrider.submit('{"chain": [
              {"name": "a", "url": "\(target.url)/1"}, {"url": "\(target.url)/2/{{a.body.id}}"},
              {"batch": {"each": "{{a.body.list}}", "do": {"url": "\(target.url)/3/{{item}}"}}}]}')
            """)
        let lost = try queue.number(
            """
            select postrider.submit('{"chain": [
              {"name": "a", "url": "\(target.url)/lost"}, {"url": "\(target.url)/lost/{{a.body.id}}"}]}')
            """)
        try begin(queue, "member")
        try queue.wait(
            until:
                "select count(distinct tree_id) = 2 from postrider_internal.tree_deltas where refused_since is not null"
        )
        // Moves the times back by 15 minutes.
        try TestClock.wait(30, for: "the end of a chain that cannot go on for 15 minutes") {
            try queue.connection.execute(
                "update postrider_internal.tree_deltas set refused_since = now() - interval '16 min', due_at = now() where tree_id = \(lost)"
            )
            return try queue.state(lost) == "failed"
        }
        #expect(try queue.text("select error_code from postrider.job_status where id = \(lost)") == "internal")
        #expect(try queue.state(held) == "running")
        try queue.connection.execute("delete from app.fault where place = 'answer'")
        try queue.wait(
            40,
            until:
                "select exists (select from postrider_internal.results r join postrider.jobs j on j.id = r.job_id where j.url like '%/2/%')"
        )
        try queue.wait(
            until:
                "select exists (select from postrider_internal.tree_deltas where tree_id = \(held) and refused_since is not null)"
        )
        #expect(try queue.state(held) == "running")
        try end(queue)
        try queue.wait(60, for: held, toBe: "succeeded")
        #expect(target.requests.count == 6)
    }

    @Test func `callbacks of a job run after the shortage that delayed the job's end`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        try queue.connection.execute(
            """
            create table app.fault (code text);
            create function app.fail() returns void language plpgsql security definer as $$
            begin
              if exists (select from app.fault) then
                raise exception 'injected' using errcode = '53200';
              end if;
            end $$;
            create function app.fail_row() returns trigger language plpgsql as $$ begin perform app.fail(); return new; end $$;
            create trigger fails before insert
              on postrider_internal.results for each row execute function app.fail_row();
            create function app.short(bigint) returns void language plpgsql as $$
            begin
              perform app.fail();
              perform app.note($1);
            end $$;
            insert into postrider.callbacks (name, function) values ('short', 'app.short(bigint)');
            insert into app.fault values ('53200')
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let stored = try queue.insert("url, on_success", "'\(target.url)/ok', 'note'")
        let short = try queue.insert("url, on_success", "'\(target.url)/ok', 'short'")
        try queue.wait(until: "select count(*) = 2 from postrider_internal.outcomes where tries = 4")
        // The fifth and the sixth refusal.
        for _ in 1...2 {
            try queue.connection.execute("update postrider_internal.outcomes set due_at = now()")
            try queue.wait(until: "select bool_and(due_at > now()) from postrider_internal.outcomes")
        }
        #expect(try queue.number("select max(tries)::bigint from postrider_internal.outcomes") == 4)
        try queue.connection.execute("delete from app.fault")
        for id in [stored, short] {
            try queue.wait(60, for: id, toBe: "succeeded")
            #expect(try CallbackLog.lines(queue, of: id) == ["callback succeeded"])
        }
        #expect(try queue.number("select count(*) from postrider.callback_errors") == 0)
    }
}
