// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Names whose address changes while the worker still has the old address.
@Suite(.enabled(if: HostsFile.obstacle == nil, "\(HostsFile.obstacle ?? "")"))
struct MovedNameTests {
    @Test func `a retry finds the server at the new address of its host name`() throws {
        let target = try TargetServer()
        let port = try #require(target.url.split(separator: ":").last)
        let hosts = try HostsFile("moving.example", at: "127.0.0.3")
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, under: hosts.wrapper)
        let id = try queue.insert("url, backoff", "'http://moving.example:\(port)/ok', '{1.1 s}'")
        try queue.wait(until: "select exists (select from postrider.attempts where job_id = \(id))")
        try hosts.move("moving.example", to: "127.0.0.1")
        try queue.waitUntilDone(20)
        #expect(try queue.states() == "succeeded 1")
        let tries = try queue.rows("select error_code from postrider.attempts where job_id = \(id) order by attempt")
        #expect(tries.first == ["connect"] && tries.last == [nil], "\(tries)")
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `a wrong certificate at a host name's old address does not fail the job`() throws {
        let nginx = try NginxServer(firstPort: 22_050)
        let hosts = try HostsFile("other.example", at: "127.0.0.2")
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, under: hosts.wrapper)
        try queue.connection.execute(
            "insert into postrider.services (name, tls) values ('api', '{\"ca\": \"\(nginx.caFile)\"}')")
        func insert(_ scheme: String) throws -> Int64 {
            let url = "\(scheme)://other.example:\(nginx.wrongNamePort)/text"
            return try queue.insert("service, url, max_attempts", "'api', '\(url)', 1")
        }
        // The same port now speaks only TLS, and answers with an error.
        let plain = try insert("http")
        try queue.wait(for: plain, toBe: "failed")
        #expect(try queue.text("select status_code::text from postrider.job_status where id = \(plain)") == "400")
        try hosts.move("other.example", to: "127.0.0.1")
        // A name is not looked up again within a second.
        TestClock.sleep(milliseconds: 1_100)
        try queue.wait(for: insert("https"), toBe: "succeeded")
        #expect(worker.end(SIGTERM) == 0)
    }
}
