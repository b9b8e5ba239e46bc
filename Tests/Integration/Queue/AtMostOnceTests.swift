// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// `delivery = 'at_most_once'`: a request that may have been sent is never sent again.
struct AtMostOnceTests {
    private let target: TargetServer

    init() throws {
        target = try TargetServer()
    }

    @Test func `calls of a killed worker end as unknown and are not made again`() throws {
        let queue = try TestQueue()
        let first = try RunningWorker(queue.database)
        try queue.insert(8, "method, url, delivery", "'POST', '\(target.url)/hang/' || i, 'at_most_once'")
        try TestClock.wait(10, for: "8 calls") { target.underWay == 8 }
        first.end(SIGKILL)
        let second = try RunningWorker(queue.database)
        defer { second.kill() }
        try queue.waitUntilDone(25)
        #expect(try queue.states() == "unknown 8")
        #expect(
            try queue.number("select count(*) from postrider.job_status where error_code = 'lost_worker'") == 8)
        let after = try queue.insert("url", "'\(target.url)/ok/after'")
        try queue.wait(for: after, toBe: "succeeded")
        #expect(target.requests.count == 9)
    }

    @Test func `a timeout after sending ends the job as unknown without a retry`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert(
            "method, url, delivery, timeout", "'POST', '\(target.url)/hang', 'at_most_once', '300 ms'")
        try queue.wait(for: id, toBe: "unknown")
        let row = try queue.rows("select error_code, attempt::text from postrider.job_status where id = \(id)")
        #expect(row == [["timeout", "1"]])
        #expect(target.requests.count == 1)
    }

    @Test func `an answer cut inside its headers ends the job as unknown`() throws {
        let cutting = try TargetServer { _ in [.send([UInt8]("HTTP/1.1 200 OK\r\nX-A: b\r\n".utf8)), .close] }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("method, url, delivery", "'POST', '\(cutting.url)/', 'at_most_once'")
        try queue.wait(for: id, toBe: "unknown")
        let row = try queue.rows("select error_code, attempt::text from postrider.job_status where id = \(id)")
        #expect(row == [["truncated", "1"]])
        #expect(cutting.requests.count == 1)
    }

    @Test func `a connection cut after the request ends as unknown, a refused connection is retried`() throws {
        let cutting = try TargetServer { _ in [.reset] }
        let closed = try TargetServer.freePort()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let cut = try queue.insert("method, url, delivery", "'POST', '\(cutting.url)/', 'at_most_once'")
        let refused = try queue.insert(
            "url, delivery, max_attempts, backoff", "'http://127.0.0.1:\(closed)/', 'at_most_once', 3, '{20 ms}'")
        try queue.wait(for: cut, toBe: "unknown")
        try queue.wait(for: refused, toBe: "failed")
        let row = try queue.rows("select error_code, attempt::text from postrider.job_status where id = \(refused)")
        #expect(row == [["connect", "3"]])
        #expect(cutting.requests.count == 1)
    }

    @Test func `a truncated answer ends as unknown, a complete answer as failed, and retry_failed repeats neither`()
        throws
    {
        let target = try TargetServer { request in
            switch request.path {
            case "/cut": [.send([UInt8]("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}".utf8)), .close]
            case "/garbled": TargetStep.answer(200, headers: ["Content-Encoding: gzip"])
            case "/long": TargetStep.answer(200, #"{"more": "than fits"}"#)
            default: TargetStep.answer(500)
            }
        }
        let closed = try TargetServer.freePort()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for path in ["cut", "garbled", "long", "refused"] {
            try queue.insert(
                "method, url, delivery, max_response", "'POST', '\(target.url)/\(path)', 'at_most_once', 10")
        }
        let unsent = try queue.insert(
            "url, delivery, max_attempts", "'http://127.0.0.1:\(closed)/', 'at_most_once', 1")
        try queue.waitUntilDone()
        #expect(
            try queue.rows("select state, error_code from postrider.job_status order by id")
                == [
                    ["unknown", "truncated"], ["failed", "decode"], ["unknown", "too_large"],
                    ["failed", "http_status"],
                    ["failed", "connect"],
                ])
        #expect(try queue.number("select postrider.retry_failed()") == 1)
        try queue.wait(until: "select count(*) = 2 from postrider.attempts where job_id = \(unsent)")
        #expect(target.requests.count == 4)
    }

    @Test func `retry repeats a tree with a call of unknown outcome, and retry_failed does not`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let url = target.url
        let tree = try queue.number(
            """
            select postrider.submit('{"mode": "settle", "batch": [{"url": "\(url)/status/404"}, {"chain": [
              {"batch": [{"method": "POST", "url": "\(url)/hang", "delivery": "at_most_once", "timeout": "300 ms"}]},
              {"url": "\(url)/ok"}]}]}')
            """)
        let other = try queue.number(
            """
            select postrider.submit('{"mode": "settle", "batch": [{"url": "\(url)/status/404"},
              {"method": "POST", "url": "\(url)/status/404,404/b", "delivery": "at_most_once"}]}')
            """)
        try queue.waitUntilDone()
        #expect(try queue.state(tree) == "succeeded")
        #expect(try queue.number("select count(*) from postrider.job_status where state = 'unknown'") == 1)
        #expect(try queue.number("select postrider.retry_failed()") == 0)
        #expect(try queue.number("select postrider.retry_failed(error_code => 'http_status')") == 0)
        let calls = target.requests.count
        try queue.connection.execute("select postrider.retry(\(tree)); select postrider.retry(\(other))")
        try queue.waitUntilDone()
        #expect(target.requests("/hang").count == 2)
        #expect(target.requests.count == calls + 4)
    }

    @Test func `retry_failed skips a call that may have acted, even after an unsent manual retry`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let closed = try TargetServer.freePort()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url)
            values ('moved', '\(target.url)'), ('gone', 'http://127.0.0.1:\(closed)')
            """
        )
        let call =
            #"{"method": "POST", "service": "moved", "url": "/hang", "delivery": "at_most_once", "timeout": "300 ms", "max_attempts": 1}"#
        let plain = try queue.number("select postrider.submit('\(call)')")
        let chain = try queue.number(#"select postrider.submit('{"chain": [{"batch": [\#(call)]}]}')"#)
        let batch = try queue.number(#"select postrider.submit('{"batch": [\#(call)], "mode": "settle"}')"#)
        // The job ends as unknown without a call, as after a restore.
        let doubted = try queue.insert(
            "method, service, url, delivery, max_attempts, run_at",
            "'POST', 'gone', '/', 'at_most_once', 1, now() + interval '1 h'")
        // The request was never sent.
        let unsent = try queue.insert(
            "method, service, url, delivery, max_attempts", "'POST', 'gone', '/', 'at_most_once', 1")
        try queue.wait(
            until: "select count(*) = 3 from postrider.job_status where state = 'unknown' and error_code = 'timeout'")
        try queue.wait(for: unsent, toBe: "failed")
        try queue.wait(for: chain, toBe: "failed")
        try queue.wait(for: batch, toBe: "succeeded")
        #expect(try queue.number("select postrider.end_unknown(now())") == 1)
        let calls = target.requests.count
        try queue.connection.execute(
            "update postrider.services set base_url = 'http://127.0.0.1:\(closed)' where name = 'moved'")
        for id in [plain, chain, batch, doubted] { try queue.connection.execute("select postrider.retry(\(id))") }
        try queue.waitUntilDone()
        #expect(
            try queue.number(
                "select count(*) from postrider.job_status where state = 'failed' and error_code = 'connect'")
                == 5)
        try queue.connection.execute("update postrider.services set base_url = '\(target.url)' where name = 'moved'")
        #expect(try queue.number("select postrider.retry_failed()") == 1)
        try queue.waitUntilDone()
        #expect(try queue.number("select count(*) from postrider.attempts where job_id = \(unsent)") == 2)
        #expect(target.requests.count == calls)
        #expect(worker.isRunning)
    }

    @Test func `retry_failed skips answered at_most_once calls with any error code`() throws {
        let queue = try TestQueue()
        let codes = try queue.number("select count(*) from postrider.error_codes")
        try queue.insert(Int(codes), "method, url, delivery", "'POST', 'http://h/', 'at_most_once'")
        try queue.connection.execute(
            """
            with gone as (delete from postrider_internal.ready returning *)
            insert into postrider_internal.results (job_id, attempt, track, state, error_code, status_code, bytes_sent,
                                                    fence, started_at)
            select g.job_id, 1, g.track, 'f', c.code, 200, 100, 7, now()
              from (select *, row_number() over () as place from gone) g
              join (select code, row_number() over () as place from postrider.error_codes) c using (place)
            """)
        #expect(try queue.number("select count(*) from postrider_internal.results") == codes)
        #expect(try queue.number("select postrider.retry_failed()") == 0)
        // Without an answer, it matters whether the request was sent. A network failure ends the job as failed only if
        // nothing was sent.
        try queue.connection.execute("update postrider_internal.results set status_code = null")
        let network = try queue.number("select count(*) from postrider.error_codes where class = 'network'")
        #expect(try queue.number("select postrider.retry_failed()") == network)
    }

    @Test func `a job cancelled while it runs ends as unknown`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, delivery", "'\(target.url)/hang', 'at_most_once'")
        try TestClock.wait(10, for: "a call") { target.underWay == 1 }
        #expect(try queue.text("select postrider.cancel(\(id))::text") == "true")
        #expect(try queue.state(id) == "unknown")
        try TestClock.wait(2, for: "end of the transfer") { target.underWay == 0 }
        #expect(try queue.text("select error_code from postrider.job_status where id = \(id)") == "cancelled")
    }

    @Test func `calls cut off at the end of a drain end as unknown`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, ["--drain", "200ms"])
        let id = try queue.insert("url, delivery", "'\(target.url)/hang', 'at_most_once'")
        try TestClock.wait(10, for: "a call") { target.underWay == 1 }
        #expect(worker.end(SIGTERM) == 0)
        #expect(try queue.state(id) == "unknown")
    }
}
