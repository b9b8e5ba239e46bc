// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// Downloads from a real server over connections that break, in processes that are killed.
@Suite(.serialized)
struct DownloadResumeTests {
    private let folder: TestFolder
    private let nginx: NginxServer

    /// The size of the largest file; 2 GiB in a soak.
    private static let megabytes = Soak.count(2_048, reduced: 64)

    init() throws {
        folder = try TestFolder()
        nginx = try NginxServer(firstPort: 24_100)
    }

    private func makeFile(megabytes: Int, seed: Int = 1) throws -> String {
        try folder.shell(
            "openssl enc -aes-128-ctr -pass pass:\(seed) -nosalt -in /dev/zero 2>/dev/null "
                + "| head -c \(megabytes << 20) > \(nginx.www)/large; touch -d '2020-01-01 00:00:0\(seed)' \(nginx.www)/large"
        )
        return String(try folder.shell("sha256sum < \(nginx.www)/large").prefix(64))
    }

    @Test func `a download over ten broken connections repeats at most 2% of its bytes, within 40 MiB`() throws {
        let size = Self.megabytes << 20
        let sum = try makeFile(megabytes: Self.megabytes)
        let proxy = try CuttingProxy(to: nginx.port, cutEvery: size / 10)
        let outcome = try WorkerProcess.run(
            program: "downloader", ["http://127.0.0.1:\(proxy.port)/large", folder.path, "file", "30"])
        let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(lines.dropLast(2).allSatisfy { $0[0] == "progressed" && $0[3] == "truncated" }, "\(outcome.output)")
        #expect(try folder.sha256("file") == sum)
        #expect(try folder.names() == ["file"])
        #expect(proxy.connections >= 10)
        #expect(Double(proxy.bytes) <= 1.02 * Double(size), "\(proxy.bytes) bytes")
        let kilobytes = try #require(lines.last?.last.flatMap { Int($0) })
        #expect(kilobytes <= 40_960 || Sanitizer.isOn, "\(outcome.output)")
    }

    @Test func `a download resumes from the part that a killed process left on disk`() throws {
        let sum = try makeFile(megabytes: 64)
        let proxy = try CuttingProxy(to: nginx.port)
        proxy.slow(milliseconds: 1)
        let words = ["http://127.0.0.1:\(proxy.port)/large", folder.path, "file", "1"]
        for round in 1...2 {
            let process = try WorkerProcess.start(program: "downloader", words, output: folder.path("log"))
            try TestClock.wait(20, for: "progress") { proxy.bytes > round * 24 << 20 }
            #expect(WorkerProcess.end(process, signal: SIGKILL) == 128 + SIGKILL)
            #expect(folder.size("file") == -1 && folder.size("file.part") >= (round == 1 ? 16 : 32) << 20)
        }
        let sum32 = (0..<32).map { UInt8(sum.dropFirst(2 * $0).prefix(2), radix: 16) ?? 0 }
        let driver = try AgentDriver(filesRoot: folder.path)
        let call = HTTPCall(
            url: words[0], download: Download(path: "file", sha256: sum32), limits: CallLimits(total: .seconds(60)),
            allowsPrivateNetwork: true)
        let outcome = try driver.run(call)
        #expect(outcome.download?.isComplete == true, "\(outcome)")
        #expect(try outcome.response().status == 206)
        #expect(try folder.sha256("file") == sum)
        #expect(proxy.bytes <= (64 + 2 * 24) << 20)
    }

    @Test func `a file that changes during its download is fetched again from the start`() throws {
        _ = try makeFile(megabytes: 16)
        let proxy = try CuttingProxy(to: nginx.port, cutEvery: 6 << 20)
        let driver = try AgentDriver(filesRoot: folder.path)
        let call = HTTPCall(
            url: "http://127.0.0.1:\(proxy.port)/large", download: Download(path: "file"),
            limits: CallLimits(total: .seconds(20)), allowsPrivateNetwork: true)
        #expect(try driver.run(call).download?.gained ?? 0 > 4 << 20)
        let sum = try makeFile(megabytes: 16, seed: 2)
        proxy.cut(after: .max)
        let outcome = try driver.run(call)
        #expect(try outcome.response().status == 200 && outcome.download?.isComplete == true)
        #expect(try folder.sha256("file") == sum)
    }

    @Test func `a download over TLS uses its own HTTP/1.1 connection and leaves the shared connection open`() throws {
        let sum = try makeFile(megabytes: 16)
        let driver = try AgentDriver(caFile: nginx.caFile, filesRoot: folder.path)
        let base = "https://localhost:\(nginx.tlsPort)"
        let small = HTTPCall(url: base + "/text", allowsPrivateNetwork: true)
        #expect(try driver.run(small).httpVersion == "2")
        var large = HTTPCall(url: base + "/large", allowsPrivateNetwork: true)
        large.download = Download(path: "file")
        let outcome = try driver.run(large)
        #expect(outcome.httpVersion == "1.1" && outcome.download?.isComplete == true, "\(outcome)")
        #expect(try folder.sha256("file") == sum)
        let again = try driver.run(small)
        #expect(again.httpVersion == "2" && again.reused)
    }

    @Test func `a download with a wrong SHA-256 fails as checksum and leaves no file`() throws {
        _ = try makeFile(megabytes: 4)
        let driver = try AgentDriver(filesRoot: folder.path)
        let call = HTTPCall(
            url: "http://127.0.0.1:\(nginx.port)/large",
            download: Download(path: "file", sha256: [UInt8](repeating: 1, count: 32)),
            limits: CallLimits(total: .seconds(20)), allowsPrivateNetwork: true)
        let failure = try driver.run(call).failure()
        #expect(failure.code == .checksum && !failure.isRetryable)
        #expect(try folder.names() == [])
    }

    @Test func `a large download with a checksum delays no other call by a second`() throws {
        let sum = try makeFile(megabytes: 256)
        let sum32 = (0..<32).map { UInt8(sum.dropFirst(2 * $0).prefix(2), radix: 16) ?? 0 }
        let driver = try AgentDriver(filesRoot: folder.path)
        let base = "http://127.0.0.1:\(nginx.port)"
        driver.agent.start(
            HTTPCall(
                url: base + "/large", download: Download(path: "file", sha256: sum32),
                limits: CallLimits(total: .seconds(120)), allowsPrivateNetwork: true), slot: 1)
        var longest: Int64 = 0
        var count = 0
        var isDone = false
        driver.agent.start(HTTPCall(url: base + "/text", allowsPrivateNetwork: true), slot: 0)
        while !isDone {
            for finished in try driver.wait(for: 1, seconds: 60) {
                if finished.slot == 1 {
                    #expect(finished.outcome.download?.isComplete == true, "\(finished.outcome)")
                    isDone = true
                } else {
                    longest = max(longest, finished.outcome.timings.total)
                    count += 1
                    driver.agent.start(HTTPCall(url: base + "/text", allowsPrivateNetwork: true), slot: 0)
                }
            }
        }
        print("beside a download of 256 MiB: \(count) calls, the longest \(longest / 1000) ms")
        #expect(longest < Int64(Soak.seconds(1) * 1e6))
    }
}
