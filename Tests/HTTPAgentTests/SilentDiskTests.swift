// SPDX-License-Identifier: Apache-2.0
import CSilentDisk
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// A file system that does not answer holds no slot for ever.
@Suite(.serialized) struct SilentDiskTests {
    private let folder: TestFolder
    private let target: TargetServer

    init() throws {
        folder = try TestFolder()
        try folder.shell("mkdir root")
        // More than the ring between loop and disk holds.
        target = try TargetServer { request in
            TargetStep.answer(200, request.path == "/large" ? String(repeating: "x", count: 24 << 20) : "hello")
        }
    }

    private func call(_ path: String?, from place: String = "/file") -> HTTPCall {
        HTTPCall(
            url: target.url + place, download: path.map { Download(path: $0) },
            limits: CallLimits(total: CallLimits.unlimited), allowsPrivateNetwork: true)
    }

    /// At the opening the note is synced, at the end the file, and each 16 MiB the file again.
    @Test(arguments: [("x.part.meta.new", "/file"), ("x.part", "/file"), ("x.part", "/large")])
    func `a download whose disk is silent ends, its slot is free, and what comes later goes on where the disk is again`(
        silent: String, place: String
    ) throws {
        let root = try #require(try folder.shell("cd root; pwd -P").split(separator: "\n").first)
        unsafe silent_disk_begin("\(root)/\(silent)")
        defer { silent_disk_speak() }
        let driver = try AgentDriver(filesRoot: folder.path("root"), diskLimit: .seconds(2))
        // Again, if a busy disk has not answered for 2 s before.
        try TestClock.wait(60, for: "a sync that does not return") {
            let failure = try driver.run(call("x", from: place)).failure()
            #expect(failure.code == .file && failure.isRetryable, "\(failure)")
            #expect(failure.sent == .no || silent == "x.part")
            return silent_disk_waiting() == 1 && failure.message.contains("has not answered for 2.0 s")
        }
        #expect(driver.agent.callsInFlight == 0)
        // The thread is everybody's: another download does not wait for it once more. A call without one goes on.
        #expect(try driver.run(call("y")).failure().code == .file)
        #expect(try driver.run(call(nil)).response().status == 200)
        silent_disk_speak()
        try TestClock.wait(20, for: "the file") { try driver.run(call("x")).download?.isComplete == true }
        #expect(folder.size("root/x") == 5)
        #expect(try folder.names("root") == ["x"])
    }
}
