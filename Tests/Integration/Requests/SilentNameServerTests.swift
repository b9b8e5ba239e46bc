// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Names whose name server does not answer.
@Suite(.enabled(if: SilentNameServer.obstacle == nil, "\(SilentNameServer.obstacle ?? "")"))
struct SilentNameServerTests {
    @Test func `a silent name server delays only its own call, which fails by its timeout`() throws {
        let server = try SilentNameServer()
        let target = try TargetServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, under: server.wrapper)
        try worker.wait(for: "enlisted")
        let silent = try queue.insert("url, timeout, max_attempts", "'http://nobody.example/', '1 s', 1")
        try TestClock.wait(10, for: "a question to the name server") { server.isAsked }
        let asked = TestClock.now
        // The job's time is over a second after its start. The look-up goes on for a minute.
        try queue.wait(for: silent, toBe: "failed")
        try queue.insert(20, "url", "'\(target.url)/wait/1/' || i")
        try queue.waitUntilDone(3)
        #expect(TestClock.seconds(since: asked) < Soak.seconds(3))
        #expect(try queue.states() == "failed 1, succeeded 20")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(silent)") == "connect_timeout")
        #expect(worker.end(SIGTERM) == 0)
    }
}
