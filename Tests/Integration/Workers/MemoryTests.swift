// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport
import Testing

/// A worker keeps to its `--memory`, for all sizes of requests and answers.
@Suite(.serialized) struct MemoryTests {
    /// 24 answers of 10 MiB, held at once, need more than the budget of 128 MiB and `beside` together.
    private static let count = Soak.count(64, reduced: 24)
    private static let size = 10 << 20
    /// The bytes that a worker needs in addition to its budget.
    private static let beside = 64 << 20

    /// `/bytes/N` answers with N bytes, `/take` with the number of received bytes, `/gzip` with a small file that
    /// expands.
    private static func target() throws -> TargetServer {
        let blocks = [size: [UInt8](repeating: 0x61, count: size)]
        return try TargetServer { request in
            let parts = request.path.split(separator: "/")
            if parts.first == "bytes", let count = Int(parts[1]) {
                let body = blocks[count] ?? [UInt8](repeating: 0x61, count: count)
                return [.send([UInt8]("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8) + body)]
            }
            // Without a length, the answer may be as large as the limit allows.
            if parts.first == "endless", let count = Int(parts[1]) {
                let body = blocks[count] ?? [UInt8](repeating: 0x61, count: count)
                return [.send([UInt8]("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8) + body), .close]
            }
            if parts.first == "take" { return TargetStep.answer(200, request.header("content-length") ?? "0") }
            return TargetStep.byPath(request)
        }
    }

    private static func peak(_ worker: RunningWorker) -> Int { ResidentMemory.peak(of: worker.pid) }

    @Test func `concurrent answers of 10 MiB stay within the memory budget`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        try queue.insert(
            Self.count, "url",
            "'\(target.url)/' || case i % 2 when 0 then 'bytes' else 'endless' end || '/\(Self.size)/' || i")
        let worker = try RunningWorker(queue.database, concurrency: Self.count, ["--memory", "128MiB"])
        try queue.waitUntilDone(Soak.seconds(60))
        #expect(try queue.states() == "succeeded \(Self.count)")
        #expect(try queue.number("select min(octet_length(body)) from postrider_internal.results") == Int64(Self.size))
        #expect(try queue.number("select max(attempt)::bigint from postrider.job_status") == 1)
        let peak = Self.peak(worker)
        #expect(peak < 128 << 20 + Self.beside, "\(peak >> 20) MiB")
    }

    @Test func `concurrent request bodies of 10 MiB stay within the memory budget, and small jobs succeed`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        try queue.insert(
            Self.count, "url, method, body, body_json",
            """
            '\(target.url)/take/' || i, 'POST', case i % 2 when 0
              then convert_to(repeat('x', \(Self.size)), 'UTF8') end,
            case i % 2 when 1 then to_jsonb(repeat('y', \(Self.size - 2))) end
            """)
        try queue.insert(20, "url", "'\(target.url)/ok/' || i")
        let worker = try RunningWorker(queue.database, concurrency: Self.count + 20, ["--memory", "128MiB"])
        try queue.waitUntilDone(Soak.seconds(60))
        #expect(try queue.states() == "succeeded \(Self.count + 20)")
        #expect(
            try queue.number(
                "select count(*) from postrider_internal.results where convert_from(body, 'UTF8') = '\(Self.size)'")
                == Int64(Self.count))
        let peak = Self.peak(worker)
        #expect(peak < 128 << 20 + Self.beside, "\(peak >> 20) MiB")
    }

    @Test func `answers that arrive during a database outage stay within the memory budget and are stored later`()
        throws
    {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let size = 2 << 20
        let answer =
            [UInt8]("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n".utf8) + [UInt8](repeating: 0x61, count: size)
        // The whole answer waits until it is released.
        let target = try TargetServer { request in TargetStep.byPath(request).dropLast() + [.send(answer)] }
        let queue = try TestQueue(on: cluster)
        try queue.insert(60, "url", "'\(target.url)/held/' || i")
        let worker = try RunningWorker(queue.database, concurrency: 60, ["--memory", "64MiB"])
        try TestClock.wait(20, for: "60 calls") { target.underWay == 60 }
        let before = Self.peak(worker)
        cluster.stop(.fast)
        target.release()
        // Some answers fill the budget, and the others have waited for 5 s.
        try worker.wait(for: "memory_short")
        #expect(Self.peak(worker) > before + 16 << 20)
        try cluster.start()
        let connection = try PGConnection(cluster.connectionString())
        let stored = """
            select count(*) from postrider_internal.results
              where state = 's' and attempt = 1 and octet_length(body) = \(size)
            """
        try TestClock.wait(Soak.seconds(20), for: "all results") { try connection.query(stored).int64(0, 0) == 60 }
        #expect(target.requests.count == 60)
        let peak = Self.peak(worker)
        #expect(peak < 64 << 20 + Self.beside, "\(peak >> 20) MiB")
    }

    @Test func `jobs that exceed the memory budget fail, and other jobs succeed`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        let (count, huge) = (Soak.count(8, reduced: 3), Soak.count(200_000_000, reduced: 60_000_000))
        try queue.connection.execute("update postrider.settings set max_request_body = 268435456")
        try queue.insert(
            count, "url, method, body", "'\(target.url)/take/' || i, 'POST', convert_to(repeat('x', \(huge)), 'UTF8')")
        let large = try queue.insert("url, max_response", "'\(target.url)/bytes/40000000', 67108864")
        try queue.insert(200, "url, tag", "'\(target.url)/ok/' || i, 'other'")
        let worker = try RunningWorker(queue.database, concurrency: 16, ["--memory", "64MiB"])
        try queue.waitUntilDone(Soak.seconds(60))
        #expect(
            try queue.rows(
                """
                select coalesce(tag, 'mine'), state, error_code, (error like '%--memory%')::text, count(*)::text
                  from postrider.job_status group by 1, 2, 3, 4 order by 1
                """) == [
                    ["mine", "failed", "too_large", "true", "\(count + 1)"], ["other", "succeeded", nil, nil, "200"],
                ])
        #expect(target.requests.allSatisfy { !$0.path.hasPrefix("/take") })
        #expect(
            try queue.text("select error from postrider.job_status where id = \(large)")?.contains("answer") == true)
        let peak = Self.peak(worker)
        #expect(peak < 64 << 20 + Self.beside, "\(peak >> 20) MiB")
    }

    @Test func `the wait of an answer for memory does not count against the call's timeout`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        // The answers take turns for longer than the timeout of each.
        try queue.insert(
            Self.count, "url, timeout, max_response",
            "'\(target.url)/endless/\(Self.size)/' || i, interval '8 s', 16000000")
        let worker = try RunningWorker(queue.database, concurrency: Self.count, ["--memory", "64MiB"])
        defer { worker.kill() }
        try queue.waitUntilDone(Soak.seconds(120))
        #expect(try queue.states() == "succeeded \(Self.count)")
        #expect(try queue.number("select max(attempt)::bigint from postrider.job_status") == 1)
    }
}
