// SPDX-License-Identifier: Apache-2.0

import HostileTarget
import PGClient
import TestSupport
import Testing

/// Cookies by which a server could fail the jobs of its service, or fill the jar.
struct HostileCookieTests {
    @Test func `a malformed cookie fails neither its job nor the service's next job`() throws {
        // All parts differ. Otherwise the index would compress them.
        let long = (0..<900).map { String($0 * 7_919 % 9_973, radix: 36) }.joined()
        let cookies: [(name: String, line: String, kept: Int64?)] = [
            ("long-name", "\(long)=1; Path=/", 0), ("long-path", "a=1; Path=/\(long)", 0),
            ("control", "a=1; Path=/\u{1}", 0), ("tab", "a=1; Path=/x\ty", 0), ("latin", "\u{E9}=\u{FF}; Path=/", 1),
            ("empty", "a=; Path=/", 1), ("no-name", "=a; Path=/", nil), ("command", "FLUSH=1; Path=/", 1),
            ("comment", "# a=1; Path=/", 1), ("good", "a=\(long); Path=/", 1),
        ]
        let target = try TargetServer { request in
            let cookie = cookies.first { request.path == "/\($0.name)" }
            return TargetStep.answer(200, headers: cookie.map { ["Set-Cookie: \($0.line)"] } ?? [])
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, concurrency: 16)
        defer { worker.kill() }
        for cookie in cookies {
            try queue.connection.execute(
                "insert into postrider.services (name, base_url, cookies) values ('\(cookie.name)', '\(target.url)', true)"
            )
            try queue.insert("service, url", "'\(cookie.name)', '\(cookie.name)'")
        }
        try queue.waitUntilDone()
        for cookie in cookies { try queue.insert("service, url", "'\(cookie.name)', 'next'") }
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded \(2 * cookies.count)")
        for cookie in cookies where cookie.kept != nil {
            #expect(
                try queue.number("select count(*) from postrider_internal.cookies where service = '\(cookie.name)'")
                    == cookie.kept, "\(cookie.name)")
        }
    }

    @Test func `a slow call does not restore cookies that a faster call renewed or removed`() throws {
        let target = try TargetServer { request in
            switch request.path {
            case "/one": TargetStep.answer(200, headers: ["Set-Cookie: sid=ONE", "Set-Cookie: del=me"])
            case "/two": TargetStep.answer(200, headers: ["Set-Cookie: sid=TWO", "Set-Cookie: del=; Max-Age=0"])
            case "/slow-one": [.held] + TargetStep.answer(200, headers: ["Set-Cookie: a=1"])
            case "/slow-two":
                [.held] + TargetStep.answer(200, headers: ["Set-Cookie: b=2", "Set-Cookie: sid=; Max-Age=0"])
            case "/slow": [.held] + TargetStep.answer(200)
            default: TargetStep.answer(200)
            }
        }
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, cookies) values ('s', '\(target.url)', true)")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        func jar() throws -> String? {
            try queue.text(
                "select string_agg(name || '=' || split_part(line, E'\\t', 7), ' ' order by name) from postrider_internal.cookies"
            )
        }
        try queue.wait(for: try queue.insert("service, url", "'s', '/one'"), toBe: "succeeded")
        #expect(try jar() == "del=me sid=ONE")
        for path in ["/slow", "/slow-one", "/slow-two"] { try queue.insert("service, url", "'s', '\(path)'") }
        try TestClock.wait(10, for: "the slow calls") { target.underWay == 3 }
        try queue.wait(for: try queue.insert("service, url", "'s', '/two'"), toBe: "succeeded")
        #expect(try jar() == "sid=TWO")
        target.release()
        try queue.waitUntilDone()
        // The cookies of the slow calls are stored. A cookie that one of them removed does not have its old value.
        #expect(try jar() == "a=1 b=2 sid=TWO")
    }

    @Test func `a jar holds the newest 200 cookies`() throws {
        let target = try TargetServer { request in
            TargetStep.answer(200, headers: (1...40).map { "Set-Cookie: c\(request.turn)-\($0)=1; Path=/" })
        }
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, cookies) values ('s', '\(target.url)', true)")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        for _ in 1...8 { try queue.wait(for: try queue.insert("service, url", "'s', 'a'"), toBe: "succeeded") }
        #expect(try queue.number("select count(*) from postrider_internal.cookies") == 200)
        #expect(try queue.number("select count(*) from postrider_internal.cookies where name like 'c8-%'") == 40)
    }

    @Test func `a cookie that is not UTF-8 is sent back with the same bytes`() throws {
        let values: [[UInt8]] = [
            [0x63, 0x61, 0x66, 0xE9], [0xC3, 0xA9], [0xE9, 0xC3, 0xA9, 0xFF, 0x80, 0x78], [0xF4, 0x8F, 0x9E, 0x85],
            [0xED, 0xA0, 0x80], [0x65, 0xCC, 0x81],
        ]
        let target = try TargetServer { _ in
            var lines = [UInt8]("HTTP/1.1 200 Answer\r\nContent-Length: 0\r\n".utf8)
            for (index, value) in values.enumerated() {
                lines += [UInt8]("Set-Cookie: v\(index)=".utf8) + value + [UInt8]("; Path=/\r\n".utf8)
            }
            return [.send(lines + [UInt8]("\r\n".utf8))]
        }
        let echo = try HostileServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, cookies) values ('s', '\(target.url)', true)")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: try queue.insert("service, url", "'s', '/set'"), toBe: "succeeded")
        let jar = "select count(*)::text || min(set_at) || max(set_at) from postrider_internal.cookies"
        let before = try queue.text(jar)
        #expect(before?.hasPrefix("\(values.count)") == true)
        // Cookies are independent of the port.
        try queue.connection.execute("update postrider.services set base_url = '\(echo.url(""))'")
        let id = try queue.insert("service, url", "'s', '/echo'")
        try queue.wait(for: id, toBe: "succeeded")
        let body = try queue.text("select encode(body, 'hex') from postrider.job_status where id = \(id)") ?? ""
        for (index, value) in values.enumerated() {
            let bytes = [UInt8]("v\(index)=".utf8) + value
            let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(body.contains(hex + "3b") || body.contains(hex + "0d"), "\(value)")
        }
        #expect(try queue.text(jar) == before)
    }

    @Test func `storing cookies returns at once if another transaction writes the same jar`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, cookies) select s, 'http://h', true from unnest('{s,t}'::text[]) s"
        )
        func keep(_ service: String, _ name: String) -> String {
            "select postrider_internal.store_cookies('\(service)', '', null, 1, E'h\\tFALSE\\t/\\tFALSE\\t0\\t\(name)\\t1')"
        }
        let other = try PGConnection(queue.database)
        try other.execute("set lock_timeout = '200ms'; begin")
        try other.execute(keep("s", "a"))
        try queue.connection.execute("set lock_timeout = '5s'")
        try queue.connection.execute(keep("t", "b"))
        #expect(try !queue.connection.query(keep("s", "b")).bool(0, 0))
        try other.execute("commit")
        try queue.connection.execute(keep("s", "b"))
    }

    @Test func `an advisory lock on a cookie jar delays no result`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200, headers: ["Set-Cookie: a=b; Path=/"]) }
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.services (name, base_url, cookies) values ('api', '\(target.url)', true)")
        let holder = try TestRole.nobody.connect(queue)
        try holder.execute("select pg_advisory_lock(1886351475, hashtext('api'))")
        let worker = try RunningWorker(queue.database)
        let id = try queue.insert("service, url", "'api', '/cookie'")
        try queue.wait(10, for: id, toBe: "succeeded")
        #expect(try queue.number("select count(*) from postrider_internal.cookies") == 0)
        #expect(worker.count(of: "statement_failed") == 0, "\(worker.output)")
        try holder.execute("select pg_advisory_unlock_all()")
        let next = try queue.insert("service, url", "'api', '/cookie'")
        try queue.wait(for: next, toBe: "succeeded")
        #expect(try queue.number("select count(*) from postrider_internal.cookies") > 0)
    }
}
