// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// The files to which a download may write, and the errors for all others.
struct DownloadFileTests {
    private let folder: TestFolder
    private let target: TargetServer

    init() throws {
        folder = try TestFolder()
        target = try TargetServer { request in
            request.path == "/slow"
                ? [.send([UInt8]("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nETag: \"v\"\r\n\r\n0123".utf8)), .hang]
                : TargetStep.answer(200, "hello")
        }
        try folder.shell(
            "mkdir outside root; ln -s ../outside root/out; ln -s ../outside/x root/link.part; mkdir root/dir")
    }

    private func call(_ path: String, from place: String = "/file") -> HTTPCall {
        HTTPCall(
            url: target.url + place, download: Download(path: path), limits: CallLimits(total: .seconds(20)),
            allowsPrivateNetwork: true)
    }

    @Test(arguments: [
        "/etc/x", "../outside/x", "a/../../outside/x", "", "a//b", "a/", ".", "x.part", "x.part.meta", "out/x", "link",
        "dir", String(repeating: "n", count: 242),
    ])
    func `a download path outside the root or unusable as a file is refused before sending`(path: String) throws {
        let driver = try AgentDriver(filesRoot: folder.path("root"))
        let failure = try driver.run(call(path)).failure()
        #expect(failure.code == .file && failure.sent == .no && !failure.isRetryable, "\(failure)")
        #expect(target.requests.isEmpty)
        #expect(try folder.names("outside") == [])
    }

    @Test func `a download without a files root fails with a message that names --files`() throws {
        let failure = try AgentDriver().run(call("x")).failure()
        #expect(failure.code == .config && failure.message.contains("--files"))
    }

    @Test func `a download refuses a Range header of the job`() throws {
        let driver = try AgentDriver(filesRoot: folder.path("root"))
        var own = call("x")
        own.headers = [HTTPHeader("Range", "bytes=1-")]
        #expect(try driver.run(own).failure().code == .badHeader)
    }

    @Test func `a download to a path in use fails retryably until the other download is cancelled`() throws {
        let driver = try AgentDriver(filesRoot: folder.path("root"))
        driver.agent.start(call("x", from: "/slow"), slot: 1)
        try TestClock.wait(10, for: "bytes") {
            try driver.turn(for: 20)
            _ = driver.agent.takeFinished()
            return folder.size("root/x.part") >= 0 && target.underWay == 1
        }
        let other = try AgentDriver(filesRoot: folder.path("root"))
        for agent in [driver, other] {
            let failure = try agent.run(call("x")).failure()
            #expect(failure.code == .file && failure.isRetryable && failure.message.contains(":\(getpid())"))
        }
        #expect(driver.agent.cancel(slot: 1) == .maybe)
        #expect(try driver.run(call("x")).download?.isComplete == true)
        #expect(try folder.names("root").sorted() == ["dir", "link.part", "out", "x"])
    }

    @Test func `a download beyond the ulimit for file sizes fails as file and names ulimit -f`() throws {
        try folder.write("www", [UInt8](repeating: 7, count: 3 << 20))
        let nginx = try NginxServer(firstPort: 24_200)
        try folder.shell("mv www \(nginx.www)/large")
        let outcome = try WorkerProcess.run(
            program: "downloader",
            ["http://127.0.0.1:\(nginx.port)/large", folder.path("root"), "x", "2", "\(1 << 20)"])
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.first?.hasPrefix("failed ") == true && lines.first?.contains(" file ") == true, "\(outcome)")
        #expect(outcome.output.contains("ulimit -f"))
        #expect(folder.size("root/x") == -1)
    }

    @Test(.enabled(if: getuid() == 0, "needs root to mount a small file system"))
    func `a download to a full disk fails retryably and succeeds once there is room`() throws {
        try folder.shell("mkdir small; mount -t tmpfs -o size=2m none small")
        defer { _ = try? folder.shell("umount small") }
        try folder.write("www", [UInt8](repeating: 7, count: 3 << 20))
        let nginx = try NginxServer(firstPort: 24_300)
        try folder.shell("mv www \(nginx.www)/large")
        let driver = try AgentDriver(filesRoot: folder.path("small"))
        var large = call("x")
        large.url = "http://127.0.0.1:\(nginx.port)/large"
        let outcome = try driver.run(large)
        #expect(try outcome.failure().code == .file && outcome.failure().isRetryable, "\(outcome)")
        #expect(try outcome.failure().message.contains("No space left"))
        try folder.shell("mount -o remount,size=8m small")
        #expect(try driver.run(large).download?.isComplete == true)
        #expect(folder.size("small/x") == 3 << 20)
    }

    @Test func `download parts untouched for 8 days are removed, other files and links stay`() throws {
        try folder.shell(
            """
            cd root; mkdir -p a/b; for f in a/b/old young link2 busy; do echo x > $f.part; echo x > $f.part.meta; done
            echo x > ../outside/far.part; echo x > ../outside/far.part.meta; echo x > plain.part; echo x > whole
            touch -d '8 days ago' a/b/old.part* ../outside/far.part* plain.part whole busy.part.meta
            """)
        let agent = try HTTPAgent(slots: 1, filesRoot: folder.path("root"))
        agent.expireParts()
        try TestClock.wait(10, for: "the old one to go") { try folder.names("root/a/b") == [] }
        #expect(try folder.names("outside").sorted() == ["far.part", "far.part.meta"])
        for name in ["young.part", "busy.part", "plain.part", "whole"] { #expect(folder.size("root/\(name)") == 2) }
    }
}
