// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport
import Testing

/// Several servers together with the cache, credentials, chains and pages, which treat them as one service.
struct ServerFeatureTests {
    @Test func `servers of one environment share cached answers, and another environment does not see them`() throws {
        let queue = try TestQueue()
        let servers = [try FaultyTarget(), try FaultyTarget(), try FaultyTarget()]
        try queue.addService(servers.prefix(2).map(\.target.url))
        try queue.connection.execute(
            """
            insert into postrider.servers (service, position, environment, base_url)
            values ('api', 1, 'test', '\(servers[2].target.url)')
            """)
        let worker = try RunningWorker(queue.database)
        func fetch() throws -> Bool {
            let id = try queue.insert("service, url, cache_ttl", "'api', 'x', '1 h'")
            try queue.wait(for: id, toBe: "succeeded")
            return try queue.text("select from_cache::text from postrider.job_status where id = \(id)") == "true"
        }
        #expect(try !fetch())
        try queue.connection.execute("select postrider.switch_server('api', 2)")
        #expect(try fetch())
        #expect(servers.map(\.count) == [1, 0, 0])
        #expect(worker.end(15) == 0)
        let test = try RunningWorker(queue.database, ["--environment", "test"])
        defer { test.kill() }
        #expect(try !fetch())
        #expect(servers.map(\.count) == [1, 0, 1])
    }

    @Test func `a service's credential goes to the next server, except where allowed_origins forbids it`() throws {
        let queue = try TestQueue()
        let good = try FaultyTarget()
        let urls = try ["http://127.0.0.1:\(TargetServer.freePort())", good.target.url]
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind) values ('token', 'bearer');
            select postrider.log_in('token', '{"access_token": "t-1"}')
            """)
        try queue.addService(urls, columns: ", credential", values: ", 'token'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let first = try queue.insert("service, url", "'api', 'x'")
        try queue.wait(for: first, toBe: "succeeded")
        #expect(good.target.requests.map { $0.header("authorization") } == ["Bearer t-1"])
        #expect(
            try queue.rows("select server, credential_version::text from postrider.attempts order by fence") == [
                [urls[0], "1"], [urls[1], "1"],
            ])
        try queue.connection.execute("update postrider.credentials set allowed_origins = '{\(urls[0])}'")
        let second = try queue.insert("service, url", "'api', 'x'")
        try queue.wait(for: second, toBe: "failed")
        #expect(good.count == 1)
    }

    @Test func `chains, callbacks and the cache see one attempt for a call over three servers`() throws {
        let queue = try TestQueue()
        let good = try FaultyTarget()
        try queue.addService(
            ["http://127.0.0.1:\(TargetServer.freePort())", "http://127.0.0.1:\(TargetServer.freePort())"] + [
                good.target.url
            ])
        try queue.connection.execute(
            """
            create table public.ended (job bigint);
            grant insert on public.ended to postrider_worker;
            create function public.note(bigint) returns void language sql as 'insert into public.ended values ($1)';
            insert into postrider.callbacks (name, function) values ('note', 'public.note(bigint)')
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let chain = try queue.number(
            """
            select postrider.submit('{"chain": [
              {"name": "a", "service": "api", "url": "/a", "method": "POST", "body_json": {"n": 1}, "max_attempts": 1},
              {"service": "api", "url": "/b/{{a.status}}", "cache_ttl": "1 hour", "max_attempts": 1, "on_success": "note"}]}')
            """)
        try queue.wait(for: chain, toBe: "succeeded")
        #expect(good.target.requests.map(\.path) == ["/a", "/b/200"])
        #expect(try queue.number("select count(*) from public.ended") == 1)
        #expect(
            try queue.rows(
                "select a.attempt::text, count(*)::text from postrider.attempts a group by a.job_id, a.attempt") == [
                    ["1", "3"], ["1", "3"],
                ])
        #expect(try queue.number("select count(*) from postrider.cache_entries") == 1)
        #expect(try queue.number("select count(*) from postrider_internal.cache_flights") == 0)
        // The job does not go back to the queue for the other servers. The attempt keeps its place, and a survey finds
        // it soon.
        #expect(
            try queue.number(
                """
                select extract(epoch from max(finished_at) - min(started_at))::bigint from postrider.attempts
                """) < 20)
    }

    @Test func `pagination by links continues at another server after switch_server`() throws {
        let queue = try TestQueue()
        let answer: @Sendable (TargetRequest, UInt16) -> [TargetStep] = { request, port in
            let page = Int(request.path.split(separator: "=").last ?? "1") ?? 1
            let next = "Link: <http://127.0.0.1:\(port)/v1/items?page=\(page + 1)>; rel=\"next\""
            return [.pause(milliseconds: 30)] + TargetStep.answer(200, "[\(page)]", headers: page < 6 ? [next] : [])
        }
        let box = PortBox()
        let one = try TargetServer { answer($0, box.port(0)) }
        let two = try TargetServer { answer($0, box.port(1)) }
        box.set([one.port, two.port])
        try queue.addService([one.url + "/v1", two.url + "/v1"])
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("service, url, paginate", "'api', 'items?page=1', '{\"style\": \"link\"}'")
        try queue.wait(until: "select count(*) >= 2 from postrider.pages where job_id = \(id)")
        try queue.connection.execute("select postrider.switch_server('api', 2)")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(
            try queue.text("select result::text from postrider.job_status where id = \(id)") == "[1, 2, 3, 4, 5, 6]")
        #expect(one.requests.count + two.requests.count == 6)
        #expect(two.requests.count >= 1)
    }

    private final class PortBox: Sendable {
        private let ports = Mutex<[UInt16]>([])
        func set(_ list: [UInt16]) { ports.withLock { $0 = list } }
        func port(_ place: Int) -> UInt16 { ports.withLock { $0.count > place ? $0[place] : 0 } }
    }
}
