// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Workers with a low limit of open files. A shortage of descriptors must not fail jobs.
@Suite(.serialized)
struct DescriptorTests {
    private let target: TargetServer

    init() throws {
        target = try TargetServer()
    }

    private func worker(
        _ queue: borrowing TestQueue, _ concurrency: Int, _ limits: String, _ words: [String] = []
    ) throws -> RunningWorker {
        try RunningWorker(
            queue.database, concurrency: concurrency, words,
            under: ["/bin/sh", "-c", limits + " && exec \"$0\" \"$@\""])
    }

    /// The soft and hard limits of a worker's open files, as in `/proc`.
    private func limits(of worker: RunningWorker) throws -> [Substring] {
        let file = unsafe open("/proc/\(worker.pid)/limits", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(file, &bytes, bytes.count)
        let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("Max open files") })
        return Array(line.split(separator: " ").dropFirst(3).prefix(2))
    }

    @Test func `idle connections of many services leave descriptors for calls, callbacks and pages`() throws {
        let queue = try TestQueue()
        try CallbackLog.make(in: queue)
        let port = try TargetServer.freePort()
        let worker = try worker(queue, 32, "ulimit -n 140", ["--http", "127.0.0.1:\(port)"])
        try worker.wait(for: "http_listening")
        for number in 2..<14 {
            try queue.connection.execute(
                """
                insert into postrider.services (name, base_url, interface)
                values ('s\(number)', '\(target.url)', '127.0.0.\(number)')
                """)
            try queue.insert(32, "service, url, max_attempts", "'s\(number)', '/wait/50', 1")
            try queue.waitUntilDone()
        }
        let last = try queue.insert("url, max_attempts, on_success", "'\(target.url)/ok', 1, 'note'")
        try queue.wait(for: last, toBe: "succeeded")
        #expect(try queue.states() == "succeeded \(12 * 32 + 1)")
        #expect(try CallbackLog.lines(queue, of: last) == ["callback succeeded"])
        #expect(try PageReader(port: port).read("/healthz").status == 200)
        #expect(worker.count(of: "out_of_descriptors") == 0 && worker.count(of: "concurrency_lowered") == 0)
        #expect(worker.end(SIGTERM) == 0)
    }

    @Test func `a worker raises its soft limit of open files to the hard limit`() throws {
        let queue = try TestQueue()
        let worker = try worker(queue, 64, "ulimit -S -n 80 && ulimit -H -n 400")
        try worker.wait(for: "enlisted")
        #expect(try limits(of: worker) == ["400", "400"])
        try queue.insert(200, "url, max_attempts", "'\(target.url)/wait/50', 1")
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 200")
        #expect(worker.count(of: "concurrency_lowered") == 0)
    }

    @Test func `a worker lowers its concurrency to fit its file descriptors and logs it`() throws {
        let queue = try TestQueue()
        let worker = try worker(queue, 300, "ulimit -n 124")
        try worker.wait(for: "concurrency_lowered")
        #expect(worker.output.contains("\"from\":300,\"to\":30,"), "\(worker.output)")
        #expect(worker.output.contains("start the worker with ulimit -n 664, or lower --concurrency"))
        try queue.insert(300, "url, max_attempts", "'\(target.url)/wait/50', 1")
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 300")
        #expect(try queue.number("select max(concurrency) from postrider_internal.workers") == 30)
        #expect(worker.count(of: "out_of_descriptors") == 0)
    }

    @Test func `calls without a free descriptor wait and use no attempt`() throws {
        let queue = try TestQueue()
        let folder = try FilesFolder()
        let worker = try worker(queue, 20, "ulimit -n 110", ["--files", folder.path])
        let parts = (0..<10).map { #"{"name": "p\#($0)", "file": "a.txt"}"# }.joined(separator: ", ")
        let delivery = "case i % 2 when 0 then 'at_most_once' else 'at_least_once' end"
        try queue.insert(
            40, "url, method, body_parts, max_attempts, delivery",
            "'\(target.url)/wait/300', 'POST', '[\(parts)]', 1, \(delivery)")
        try queue.waitUntilDone(60)
        #expect(try queue.states() == "succeeded 40")
        #expect(target.requests.count == 40)
        #expect(worker.count(of: "out_of_descriptors") >= 1)
    }

    @Test func `a job with more files than available descriptors fails with error code file`() throws {
        let queue = try TestQueue()
        let folder = try FilesFolder()
        let worker = try worker(queue, 2, "ulimit -n 80", ["--files", folder.path])
        defer { worker.kill() }
        let parts = (0..<90).map { #"{"name": "p\#($0)", "file": "a.txt"}"# }.joined(separator: ", ")
        let job = try queue.insert(
            "url, method, body_parts, max_attempts", "'\(target.url)/ok', 'POST', '[\(parts)]', 1")
        try queue.wait(for: job, toBe: "failed")
        let reason = try queue.text("select error_code || ': ' || error from postrider.job_status where id = \(job)")
        #expect(reason?.hasPrefix("file: ") == true && reason?.contains("out of file descriptors") == true)
    }
}
