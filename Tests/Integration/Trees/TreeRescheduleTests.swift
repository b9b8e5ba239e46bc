// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Batches and chains that are moved to another time.
struct TreeRescheduleTests {
    private let target: TargetServer

    init() throws { target = try TargetServer() }

    private func scheduled(_ queue: borrowing TestQueue, _ at: String = "now() + interval '1 h'") throws -> Int64 {
        try queue.number(
            """
            select postrider.submit(jsonb_build_object('run_at', \(at), 'chain', '[{"name": "a", "url": "\(target.url)/ok/a"},
              {"batch": [{"url": "\(target.url)/ok/b"}, {"url": "\(target.url)/ok/d"}]},
              {"url": "\(target.url)/ok/c"}]'::jsonb))
            """)
    }

    @Test func `reschedule to now runs a chain that was due in an hour, with all its members`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try scheduled(queue)
        try queue.wait(for: id, toBe: "scheduled")
        try queue.connection.execute("select postrider.reschedule(\(id), now())")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(Set(target.requests.map(\.path)) == ["/ok/a", "/ok/b", "/ok/d", "/ok/c"])
    }

    @Test func `reschedule of a batch moves all members except those with their own run_at`() throws {
        let queue = try TestQueue()
        let id = try queue.number(
            """
            select postrider.submit(jsonb_build_object('batch', jsonb_build_array(
              jsonb_build_object('name', 'ready', 'url', '\(target.url)/ok/1'),
              jsonb_build_object('name', 'own', 'url', '\(target.url)/ok/2', 'run_at', now() + interval '3 h'),
              jsonb_build_object('name', 'moved', 'url', '\(target.url)/ok/3'),
              jsonb_build_object('name', 'inner', 'batch', jsonb_build_array(jsonb_build_object('url', '\(target.url)/ok/4'))))))
            """)
        try queue.connection.execute(
            """
            select postrider.reschedule(id, now() + interval '10 min') from postrider.job_status
             where parent_id = \(id) and name = 'moved';
            select postrider.reschedule(\(id), now() + interval '1 h')
            """)
        let hours = """
            select coalesce(name, 'innermost'), round(extract(epoch from run_at - now()) / 3600, 1)::text
              from postrider.job_status where id > \(id) order by id
            """
        func moved(_ to: String) -> [[String?]] {
            [["ready", to], ["own", "3.0"], ["moved", "0.2"], ["inner", to], ["innermost", to]]
        }
        #expect(try queue.rows(hours) == moved("1.0"))
        #expect(try queue.state(id) == "scheduled")
        try queue.connection.execute("select postrider.reschedule(\(id), now() + interval '2 h')")
        #expect(try queue.rows(hours) == moved("2.0"))
        // A user's reschedule counts as for a single job: no failing lane delays the members.
        #expect(try queue.number("select count(*) from postrider_internal.scheduled where has_slot") == 3)
    }

    @Test func `reschedule refuses a batch that has made a call, and the batch goes on`() throws {
        let queue = try TestQueue()
        let id = try queue.number(
            """
            select postrider.submit('{"mode": "settle", "batch": [{"batch": [{"url": "\(target.url)/held/1"}]}, {"url": "\(target.url)/ok/2"}]}')
            """)
        let worker = try RunningWorker(queue.database, concurrency: 1)
        defer { worker.kill() }
        try TestClock.wait(10, for: "the first call") { target.requests.contains { $0.path == "/held/1" } }
        func refusal() throws -> String? {
            let error = try #require(throws: PGError.self) {
                try queue.connection.execute("select postrider.reschedule(\(id), now() + interval '1 h')")
            }
            return error.sqlState?.rawValue
        }
        #expect(try refusal() == "PR005")
        target.release()
        try queue.wait(for: id, toBe: "succeeded")
        #expect(target.requests.count == 2)
        #expect(try refusal() == "PR005")
    }

    @Test func `reschedule waits for an open transaction that adds a batch, and moves that batch too`() throws {
        let queue = try TestQueue()
        let id = try queue.number(
            """
            select postrider.submit(jsonb_build_object('run_at', now() + interval '1 h', 'mode', 'settle', 'batch',
                                                       jsonb_build_array(
              jsonb_build_object('name', 'inner', 'batch', jsonb_build_array(jsonb_build_object('url', '\(target.url)/ok/1'))))))
            """)
        let inner = try queue.number("select id from postrider.job_status where parent_id = \(id)")
        let client = try PGConnection(queue.database)
        try client.execute(
            "begin; select postrider.submit('{\"parent_id\": \(inner), \"batch\": [{\"url\": \"\(target.url)/ok/2\"}]}')"
        )
        let database = queue.database
        let other = BackgroundThread {
            try? PGConnection(database).execute("select postrider.reschedule(\(id), now())")
        }
        try queue.waitUntilBlocked("reschedule(")
        try client.execute("commit")
        other.join()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: id, toBe: "succeeded")
        #expect(Set(target.requests.map(\.path)) == ["/ok/1", "/ok/2"])
    }

    @Test func `reschedule refuses an ended tree, a run_at after expires_at and a priority, with a hint`() throws {
        let queue = try TestQueue()
        let id = try scheduled(queue)
        func refusal(_ arguments: String) throws -> [String?] {
            let error = try #require(throws: PGError.self) {
                try queue.connection.execute("select postrider.reschedule(\(id), \(arguments))")
            }
            return [error.sqlState?.rawValue, error.column, error.hint == nil ? "no hint" : nil]
        }
        #expect(try refusal("priority => 4") == ["PR001", "priority", nil])
        #expect(try refusal("'infinity'") == ["PR001", "run_at", nil])
        try queue.connection.execute("select postrider.cancel(\(id))")
        #expect(try refusal("now()") == ["PR005", nil, nil])
        let short = try queue.number(
            """
            select postrider.submit(jsonb_build_object('expires_at', now() + interval '1 h', 'batch', '[{"url": "\(target.url)/ok"}]'::jsonb))
            """)
        let error = try #require(throws: PGError.self) {
            try queue.connection.execute("select postrider.reschedule(\(short), now() + interval '2 h')")
        }
        #expect(error.sqlState?.rawValue == "PR001" && error.column == "run_at")
        let whole = try queue.number(
            """
            select postrider.submit(jsonb_build_object('batch', jsonb_build_array(
              jsonb_build_object('url', '\(target.url)/ok', 'expires_at', now() + interval '1 h'))))
            """)
        let late = try #require(throws: PGError.self) {
            try queue.connection.execute("select postrider.reschedule(\(whole), now() + interval '2 h')")
        }
        #expect(late.sqlState?.rawValue == "PR001" && late.column == "run_at" && late.message.contains("a part of it"))
    }

    @Test func `retry runs a cancelled chain at once, although its run_at is an hour away`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try scheduled(queue)
        try queue.connection.execute("select postrider.cancel(\(id))")
        try queue.wait(until: "select postrider_internal.job_has_ended(\(id))")
        try TestClock.wait(10, for: "all below to have ended") {
            do throws(PGError) {
                try queue.connection.execute("select postrider.retry(\(id))")
                return true
            } catch { return false }
        }
        try queue.wait(for: id, toBe: "succeeded")
        #expect(target.requests.count == 4)
    }
}
