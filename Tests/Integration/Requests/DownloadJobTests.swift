// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `download_to`, from the job's row to the file.
struct DownloadJobTests {
    @Test func `a download that breaks off resumes without using a counted attempt`() throws {
        let folder = try TestFolder()
        let nginx = try NginxServer(firstPort: 24_400)
        try folder.shell("mkdir files; head -c 8388608 /dev/urandom >\(nginx.www)/large")
        let sum = try folder.shell("sha256sum < \(nginx.www)/large").prefix(64)
        let proxy = try CuttingProxy(to: nginx.port, cutEvery: 3 << 20)
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, ["--files", folder.path("files")])
        defer { worker.kill() }
        let id = try queue.insert(
            "url, download_to, sha256, max_attempts, backoff",
            "'http://127.0.0.1:\(proxy.port)/large', 'a/b', '\(sum)', 1, '{10 ms}'")
        try queue.wait(30, for: id, toBe: "succeeded")
        let rows = try queue.rows(
            "select attempt::text, error_code from postrider.attempts where job_id = \(id) order by started_at")
        #expect(rows == [["1", "truncated"], ["1", "truncated"], ["1", nil]])
        #expect(try folder.sha256("files/a/b") == sum)
        #expect(try queue.number("select coalesce(length(body), 0)::bigint from postrider.job_status") == 0)
    }

    @Test func `if a server refuses the range, the same attempt downloads the whole file`() throws {
        let folder = try TestFolder()
        try folder.shell("mkdir files")
        let target = try TargetServer { request in
            if request.header("range") != nil { return TargetStep.answer(404, "no such key") }
            if request.turn > 1 { return TargetStep.answer(200, "ABCDEFGHIJ") }
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\n\r\n0123"
            return [.send([UInt8](head.utf8)), .pause(milliseconds: 50), .close]
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, ["--files", folder.path("files")])
        defer { worker.kill() }
        let id = try queue.insert("url, download_to, max_attempts, backoff", "'\(target.url)/', 'a', 2, '{10 ms}'")
        try queue.wait(for: id, toBe: "succeeded")
        let codes = try queue.rows(
            "select error_code, status_code::text from postrider.attempts where job_id = \(id) order by started_at")
        #expect(codes == [["truncated", "200"], [nil, "200"]])
        #expect(folder.read("files/a") == [UInt8]("ABCDEFGHIJ".utf8))
    }

    @Test func `a download that brings less than 64 KiB each time fails after twenty attempts`() throws {
        let folder = try TestFolder()
        let nginx = try NginxServer(firstPort: 24_410)
        try folder.shell("mkdir files; head -c 8388608 /dev/urandom >\(nginx.www)/large")
        let proxy = try CuttingProxy(to: nginx.port, cutEvery: 4_000)
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, ["--files", folder.path("files")])
        defer { worker.kill() }
        let id = try queue.insert(
            "url, download_to, backoff", "'http://127.0.0.1:\(proxy.port)/large', 'a', '{10 ms}'")
        try queue.wait(60, for: id, toBe: "failed")
        #expect(try queue.number("select count(*) from postrider.attempts where job_id = \(id)") == 20)
        #expect(
            try queue.rows("select error_code, split_part(error, '; ', 2) from postrider.job_status where id = \(id)")
                == [
                    ["truncated", "20 attempts in a row brought less than 64 KiB each"]
                ])
    }

    @Test func `a download answered by 204 or 304 succeeds and keeps the existing file`() throws {
        let folder = try TestFolder()
        try folder.shell("mkdir files; printf old > files/kept")
        let target = try TargetServer { request in
            let status = request.header("if-none-match") == nil ? 204 : 304
            return [.send([UInt8]("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n".utf8))]
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database, ["--files", folder.path("files")])
        defer { worker.kill() }
        let same = try queue.insert(
            "url, download_to, headers, ok_statuses",
            "'\(target.url)/', 'kept', '{\"If-None-Match\": \"\\\"v1\\\"\"}', '{[200,201), [304,305)}'")
        try queue.wait(for: same, toBe: "succeeded")
        let none = try queue.insert("url, download_to", "'\(target.url)/', 'kept'")
        try queue.wait(for: none, toBe: "succeeded")
        #expect(try folder.names("files") == ["kept"] && folder.size("files/kept") == 3)
        #expect(try queue.rows("select status_code::text from postrider.job_status order by id") == [["304"], ["204"]])
    }

    @Test func `a download fails with a hint to --files if the worker has no files root`() throws {
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, download_to", "'http://127.0.0.1:1/', 'x'")
        try queue.wait(for: id, toBe: "failed")
        let row = try queue.rows("select error_code, error from postrider.job_status where id = \(id)")
        #expect(row.first?.first == "config" && row.first?.last??.contains("--files") == true, "\(row)")
    }
}
