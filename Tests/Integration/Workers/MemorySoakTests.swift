// SPDX-License-Identifier: Apache-2.0

import Foundation
import PGClient
import TestSupport
import Testing

/// The memory of a worker over very many jobs. It runs in `make soak` only, with the release worker.
struct MemorySoakTests {
    /// The jobs in all: `POSTRIDER_SOAK_JOBS`, by default a million.
    private static let jobs =
        ProcessInfo.processInfo.environment["POSTRIDER_SOAK_JOBS"].flatMap { Int($0) } ?? 1_000_000
    /// From so many jobs on the memory must stay.
    private static let warmUp = 100_000
    /// An INSERT of all jobs at once would measure the intake.
    private static let batch = 20_000

    @Test(.enabled(if: Soak.isOn, "takes minutes"))
    func `the memory of a worker stays flat over a million jobs`() throws {
        let queue = try TestQueue()
        let server = try InstantAnswerServer(answer: Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".utf8))
        let worker = try RunningWorker(queue.database, concurrency: 64)
        var samples: [(jobs: Int, bytes: Int)] = []
        for count in stride(from: Self.batch, through: Self.jobs, by: Self.batch) {
            try queue.insert(Self.batch, "url", "'\(server.url)/' || i")
            try queue.waitUntilDone(600)
            samples.append((count, ResidentMemory.bytes(of: worker.pid)))
            // Rows of ended jobs are not the subject, and a million of them would fill the test's disk.
            try queue.connection.execute("select postrider.purge(now())")
        }
        for sample in samples { print("\(sample.jobs) jobs: \(sample.bytes >> 10) KiB") }
        let start = try #require(samples.first { $0.jobs >= Self.warmUp }?.bytes)
        let end = try #require(samples.last?.bytes)
        #expect(start > 0)
        #expect(end - start <= max(2 << 20, start / 20), "from \(start >> 10) to \(end >> 10) KiB")
    }
}
