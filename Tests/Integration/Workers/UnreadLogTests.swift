// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// The log of a worker goes to a pipe whose reader has stopped reading.
struct UnreadLogTests {
    @Test func `a blocked log pipe does not stop calls, and the log later reports dropped lines`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        var ends: [Int32] = [-1, -1]
        _ = unsafe pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], 1031, 4096)  // F_SETPIPE_SZ
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        defer { for end in ends { close(end) } }
        let worker = try RunningWorker(queue.database, log: ends[1])
        try queue.insert(8, "url, method, delivery", "'\(target.url)/held/' || i, 'POST', 'at_most_once'")
        try TestClock.wait(10, for: "8 calls") { target.underWay == 8 }
        // The worker writes half a kilobyte each time.
        for _ in 1...20 {
            let number = try queue.number("select max(id)::int8 from postrider_internal.workers")
            try queue.connection.execute(
                """
                select pg_terminate_backend(pid) from pg_stat_activity
                where usename = 'test_worker' and datname = current_database()
                """)
            try queue.wait(until: "select max(id) > \(number) from postrider_internal.workers")
        }
        target.release()
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 8")
        #expect(target.requests.count == 8)

        var text = ""
        func read() {
            var chunk = [UInt8](repeating: 0, count: 65536)
            while case let count = unsafe Glibc.read(ends[0], &chunk, chunk.count), count > 0 {
                text += String(decoding: chunk[..<count], as: UTF8.self)
            }
        }
        read()
        #expect(text.contains("worker_started"))
        worker.send(SIGTERM)
        #expect(worker.wait() == 0)
        read()
        #expect(text.contains("\"event\":\"log_lines_dropped\""))
        #expect(text.hasSuffix("\"event\":\"stopped\"}\n"))
    }
}
