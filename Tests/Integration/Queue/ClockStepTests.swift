// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// The database's clock was set back by an hour, so earlier rows have times in the future.
struct ClockStepTests {
    @Test func `a worker that died before the clock step is declared lost, and another worker leads`() throws {
        let target = try TargetServer { request in request.turn > 1 ? TargetStep.answer(200) : [.hang] }
        let queue = try TestQueue()
        let first = try RunningWorker(queue.database)
        let id = try queue.insert("url", "'\(target.url)/lost'")
        try TestClock.wait(10, for: "the call") { target.underWay == 1 }
        try queue.wait(until: "select epoch > 0 from postrider_internal.leases where name = 'leader'")
        first.end(SIGKILL)
        try queue.connection.execute(
            """
            update postrider_internal.workers set heartbeat_at = heartbeat_at + interval '1 h';
            update postrider_internal.leases set until = until + interval '1 h'
            """)
        let second = try RunningWorker(queue.database)
        try queue.wait(20, for: id, toBe: "succeeded")
        #expect(second.count(of: "worker_reaped") == 1)
    }

    @Test func `a lane with a rate limit continues after the clock step`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.lanes (name, rate_limit) values ('l', 20)")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let first = try queue.insert("url, lane", "'\(target.url)/ok', 'l'")
        try queue.wait(for: first, toBe: "succeeded")
        try queue.connection.execute("update postrider_internal.lane_rates set last_slot = last_slot + interval '1 h'")
        try queue.insert(20, "url, lane", "'\(target.url)/ok', 'l'")
        try queue.waitUntilDone(10)
        #expect(try queue.states() == "succeeded 21")
    }

    @Test func `a credential in cooldown is refreshed after the clock step, and its jobs run`() throws {
        let api = try TokenAPI(#"{"expired": ["a1"], "token_status": 503}"#)
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url) values ('c', 'oauth2_refresh_token',
                '\(api.url)/token');
            select postrider.log_in('c', '{"access_token": "a1", "refresh_token": "r1"}');
            """)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("url, credential", "'\(api.url)/api/x', 'c'")
        try queue.wait(until: "select state = 'cooldown' from postrider.credential_status")
        try queue.connection.execute(
            "update postrider_internal.refreshes set due_at = due_at + interval '1 h', began_at = began_at + interval '1 h'"
        )
        try api.set(#"{"expired": ["a1"]}"#)
        try queue.wait(for: id, toBe: "succeeded")
    }

    @Test func `a 429 pauses the lane although the previous 429 has a future time`() throws {
        let target = try TargetServer { _ in TargetStep.answer(429) }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.insert("url, lane", "'\(target.url)/ok', 'l'")
        try queue.wait(until: "select exists (select from postrider_internal.throttled_lanes)")
        try queue.connection.execute(
            """
            update postrider_internal.throttled_lanes set at = at + interval '1 h', streak = 1;
            update postrider.lanes set paused_until = null where name = 'l'
            """)
        try queue.wait(
            until: """
                select (select streak from postrider_internal.throttled_lanes) > 1
                   and (select pause_reason ~ 'in a row' from postrider.lanes where name = 'l')
                """)
    }

    @Test func `a success clears the count of 429s from before the clock step`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider_internal.throttled_lanes (lane, streak, at) values ('l', 9, now() + interval '1 h')")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, lane", "'\(target.url)/ok', 'l'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try queue.number("select count(*) from postrider_internal.throttled_lanes") == 0)
    }
}
