// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// `worker watch` as a process that writes to a file or a terminal.
struct WatchCommandTests {
    private func submit(_ queue: borrowing TestQueue, _ spec: String) throws -> Int64 {
        try queue.number("select postrider.submit('\(spec)')")
    }

    private func watch(_ id: String?, _ database: String) throws -> WatchedProcess {
        try WatchedProcess([WorkerProcess.path, "watch"] + (id.map { [$0] } ?? []) + ["--database", database])
    }

    @Test func `watch prints changes to a file without escapes and ends with 0 on success`() throws {
        let queue = try TestQueue()
        let target = try TargetServer()
        let root = try submit(
            queue,
            #"{"chain": [{"name": "a", "url": "\#(target.url)/ok/a"}, {"batch": [{"url": "\#(target.url)/ok/b"}, {"url": "\#(target.url)/ok/c"}]}]}"#
        )
        let watching = try watch("\(root)", queue.database)
        try watching.wait(for: "\(root) chain")
        let worker = try RunningWorker(queue.database)
        #expect(try watching.status() == 0)
        #expect(watching.output.contains("\(root) chain succeeded 2/2"))
        #expect(watching.output.contains("a GET \(target.url)/ok/a succeeded 200"))
        #expect(!watching.output.contains("\u{1b}"))
        worker.send(SIGKILL)
    }

    @Test func `watch ends with 1 for a cancelled tree and with 64 for a missing job`() throws {
        let queue = try TestQueue()
        let root = try submit(queue, #"{"chain": [{"url": "http://127.0.0.1:1/"}]}"#)
        try queue.connection.execute("select postrider.cancel(\(root))")
        let outcome = try WorkerProcess.run(["watch", "\(root)", "--database", queue.database])
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("\(root) chain cancelled"))
        #expect(try WorkerProcess.run(["watch", "4711", "--database", queue.database]).status == 64)
        #expect(try WorkerProcess.run(["watch", "x", "--database", queue.database]).status == 64)
    }

    @Test func `watch without an id shows unfinished trees until a signal ends watch`() throws {
        let queue = try TestQueue()
        let root = try submit(queue, #"{"batch": [{"url": "http://127.0.0.1:1/"}], "name": "first"}"#)
        let watching = try watch(nil, queue.database)
        try watching.wait(for: "\(root) batch first")
        let next = try submit(queue, #"{"batch": [{"url": "http://127.0.0.1:1/"}], "name": "second"}"#)
        try watching.wait(for: "\(next) batch second")
        #expect(try watching.status(signal: SIGINT) == 0)
    }

    @Test func `watch finds a running batch behind ten thousand newer ended batches`() throws {
        let queue = try TestQueue()
        let root = try submit(queue, #"{"batch": [{"url": "http://127.0.0.1:1/"}]}"#)
        try queue.connection.execute(
            """
            insert into postrider_internal.trees (job_id, root_id, depth, kind, mode, state, run_at)
            select 1000000 + i, 1000000 + i, 1, 'b', 'a', 's', now() from generate_series(1, 10001) i
            """)
        #expect(try queue.number("select count(*) from postrider_internal.watch(null, 100) where id = \(root)") == 1)
    }

    @Test func `watch redraws lines in place on a terminal and restores the cursor`() throws {
        let queue = try TestQueue()
        let root = try submit(queue, #"{"chain": [{"url": "http://127.0.0.1:1/"}]}"#)
        let command = "stty cols 80 rows 24; exec \(WorkerProcess.path) watch \(root) --database '\(queue.database)'"
        let watching = try WatchedProcess(["/usr/bin/script", "-qec", command, "/dev/null"])
        try watching.wait(for: "\(root) chain", times: 2)
        try queue.connection.execute("select postrider.cancel(\(root))")
        #expect(try watching.status() == 1)
        let output = watching.output
        #expect(output.contains("\u{1b}[?25l"))
        #expect(output.contains("[................] 0/1"))
        // The cursor moves up to the first of two lines. The screen is never cleared.
        #expect(output.contains("\r\u{1b}[1A"))
        #expect(!output.contains("\u{1b}[2J"))
        #expect(output.contains("\u{1b}[?7h\u{1b}[?25h"))
    }

    @Test func `a signal before the end of the job ends watch with 1`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url", "'http://127.0.0.1:1/'")
        let watching = try watch("\(id)", queue.database)
        try watching.wait(for: "\(id) ")
        #expect(try watching.status(signal: SIGTERM) == 1)
    }

    @Test func `watch shows each ended member once even if its progress row remains`() throws {
        let queue = try TestQueue()
        let root = try submit(queue, #"{"batch": [{"url": "http://127.0.0.1:1/"}, {"url": "http://127.0.0.1:1/"}]}"#)
        try queue.connection.execute(
            """
            insert into postrider_internal.progress (job_id, fence, worker, done)
            select job_id, 1, 1, 10 from postrider_internal.members where parent_id = \(root);
            select postrider.cancel(\(root))
            """)
        #expect(try queue.number("select count(*) from postrider_internal.watch(\(root), 100)") == 3)
    }
}
