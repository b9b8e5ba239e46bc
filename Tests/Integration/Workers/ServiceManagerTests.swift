// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The reports of a real worker to the socket of a service manager.
struct ServiceManagerTests {
    private let folder: TestFolder
    private let listener: NotifyListener
    private let database: String

    init() throws {
        folder = try TestFolder()
        listener = try NotifyListener(folder.path("notify"))
        database = try TestQueue.makeDatabase()
    }

    /// Starts a worker as systemd does: the variables name the socket, the timeout and the process.
    private func start(_ words: [String] = [], timeout: String = "600000", owner: String = "$$") throws -> RunningWorker
    {
        let script =
            "NOTIFY_SOCKET=\(listener.address) WATCHDOG_USEC=\(timeout) WATCHDOG_PID=\(owner) exec \"$@\""
        return try RunningWorker(database, words, under: ["/bin/sh", "-c", script, "sh"])
    }

    @Test func `a worker reports READY, WATCHDOG in half of the time, and STOPPING`() throws {
        let target = try TargetServer()
        let queue = try TestQueue(opening: database)
        let worker = try start(["--drain", "20s"])
        try listener.wait(for: "READY=1")
        #expect(worker.count(of: "enlisted") == 1)
        let before = listener.count(of: "WATCHDOG=1")
        let start = TestClock.now
        try listener.wait(for: "WATCHDOG=1", times: before + 5)
        // Five times 300 ms, less the time since the last message before the start.
        #expect(TestClock.seconds(since: start) > 1.1)
        #expect(TestClock.seconds(since: start) < Soak.seconds(1.9))

        try queue.insert("url", "'\(target.url)/wait/1500/'")
        try TestClock.wait(10, for: "a call") { target.underWay == 1 }
        worker.send(SIGTERM)
        try listener.wait(for: "STOPPING=1")
        #expect(listener.lines.contains("EXTEND_TIMEOUT_USEC=30000000"))
        #expect(listener.lines.contains("STATUS=Finishes 1 call and claims no more jobs."))
        #expect(worker.wait() == 0)
        #expect(listener.count(of: "READY=1") == 1)
        #expect(try queue.states() == "succeeded 1")
    }

    @Test func `a worker whose loop stands still sends no WATCHDOG`() throws {
        let worker = try start()
        defer { worker.kill() }
        try listener.wait(for: "WATCHDOG=1", times: 2)
        worker.send(SIGSTOP)
        TestClock.sleep(milliseconds: 100)
        let before = listener.count(of: "WATCHDOG=1")
        TestClock.sleep(milliseconds: 1000)
        #expect(listener.count(of: "WATCHDOG=1") == before)
    }

    @Test func `a worker sends no WATCHDOG that is meant for another process`() throws {
        let worker = try start(owner: "1")
        defer { worker.kill() }
        try listener.wait(for: "READY=1")
        TestClock.sleep(milliseconds: 1000)
        #expect(listener.count(of: "WATCHDOG=1") == 0)
    }
}
