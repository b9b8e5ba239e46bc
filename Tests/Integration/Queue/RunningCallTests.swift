// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Attempts in flight, in `attempts` and `explain`.
struct RunningCallTests {
    private static func wait(_ queue: borrowing TestQueue, for id: Int64, _ phase: String) throws {
        try queue.wait(
            until: "select coalesce(bool_or(phase = '\(phase)'), false) from postrider.attempts where job_id = \(id)")
    }

    private static func running(_ queue: borrowing TestQueue) throws -> Int64 {
        try queue.number("select count(*) from postrider.attempts where phase is not null")
    }

    @Test func `attempts lists a hanging call with its phase and deadline, and explain names both`() throws {
        let target = try TargetServer { request in
            request.path == "/hang" ? [.hang] : TargetStep.answer(200)
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let short = try queue.insert("url", "'\(target.url)/x'")
        let id = try queue.insert("url, timeout", "'\(target.url)/hang', '100 s'")
        try Self.wait(queue, for: id, "first_byte")
        let facts = """
            select concat_ws(' ', attempt, finished_at is null and total_ms is null, worker is not null,
                phase_since >= started_at - interval '1 s' and phase_since <= now(),
                deadline between started_at + interval '98 s' and started_at + interval '102 s')
            from postrider.attempts where job_id = \(id)
            """
        #expect(try queue.rows(facts) == [["1 t t t t"]])
        let text = try queue.text("select postrider.explain(\(id))") ?? ""
        #expect(text.contains("; it waits for the first byte of the answer since "), "\(text)")
        #expect(text.contains(", and times out at 20"), "\(text)")
        let client = try TestRole.client.connect(queue)
        #expect(try client.query("select count(*) from postrider.attempts").int64(0, 0) == 0)
        #expect(try queue.number("select count(*) from postrider.attempts where job_id = \(short)") == 1)

        try queue.connection.execute("select postrider.cancel(\(id))")
        #expect(try Self.running(queue) == 0)
        try queue.wait(until: "select count(*) = 0 from postrider_internal.progress")
    }

    @Test func `attempts distinguishes the phases connect, tls and receive`() throws {
        let silent = try SilentPort()
        let target = try TargetServer { request in
            [.send([UInt8]("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345".utf8)), .hang]
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let ids = try [
            // The target waits for the end of a request that never comes.
            ("connect", "http://127.0.0.1:\(silent.port)/"), ("tls", "https://127.0.0.1:\(target.port)/"),
            ("receive", "\(target.url)/"),
        ].map { phase, url in (phase, try queue.insert("url", "'\(url)'")) }
        for (phase, id) in ids { try Self.wait(queue, for: id, phase) }
        let done = try queue.rows("select bytes_done::text from postrider.job_status where id = \(ids[2].1)")
        #expect(done == [["5"]])
    }

    @Test func `attempts lists an answer that waits to be judged`() throws {
        let target = try ExpensiveAnswer.target()
        let queue = try ExpensiveAnswer.queue("5 s")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, extract", "'\(target.url)/large', '\(ExpensiveAnswer.expression)'")
        try Self.wait(queue, for: id, "judge")
        try queue.wait(for: id, toBe: "failed")
        #expect(try Self.running(queue) == 0)
    }

    @Test func `reap removes the running attempts of a lost worker`() throws {
        let target = try TargetServer { _ in [.hang] }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let id = try queue.insert("url", "'\(target.url)/hang'")
        try Self.wait(queue, for: id, "first_byte")
        worker.send(SIGSTOP)
        let other = try queue.number(
            "select worker from postrider_internal.enlist(0, 'other', '1', null, 1, '{}', '{}')")
        try queue.connection.execute(
            """
            update postrider_internal.workers set heartbeat_at = now() - interval '1 min' where id <> \(other);
            update postrider_internal.leases set until = now() - interval '1 s'
            """)
        let epoch = try queue.lead(other)
        #expect(try queue.number("select count(*) from postrider_internal.reap(\(other), \(epoch))") == 1)
        #expect(try Self.running(queue) == 0)
        try queue.connection.execute("select postrider_internal.fold(\(other), \(epoch), 0, 10)")
        #expect(try queue.number("select count(*) from postrider_internal.progress") == 0)
    }

    @Test func `attempts and job_status can be read on a standby`() throws {
        let queue = try TestQueue()
        let read = try queue.rows(
            """
            select distinct c.relname::text
            from pg_rewrite r
            join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
              and d.refclassid = 'pg_class'::regclass
            join pg_class c on c.oid = d.refobjid and c.relpersistence <> 'p'
            where r.ev_class in ('postrider.attempts'::regclass, 'postrider.job_status'::regclass)
            """)
        #expect(read == [])
    }
}
