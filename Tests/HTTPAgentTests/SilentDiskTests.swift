// SPDX-License-Identifier: Apache-2.0
import CSilentDisk
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// A file system that does not answer holds a slot only for a limited time.
@Suite(.serialized) struct SilentDiskTests {
    private let folder: TestFolder
    private let target: TargetServer

    init() throws {
        folder = try TestFolder()
        try folder.shell("mkdir root")
        // More than the ring between the loop and the disk thread holds.
        target = try TargetServer { request in
            let slow = request.path == "/slow" ? [TargetStep.pause(milliseconds: 1_300)] : []
            let body = request.path == "/large" ? String(repeating: "x", count: 24 << 20) : "hello"
            return slow + TargetStep.answer(200, body)
        }
    }

    private func call(_ path: String?, from place: String = "/file") -> HTTPCall {
        HTTPCall(
            url: target.url + place, download: path.map { Download(path: $0) },
            limits: CallLimits(total: CallLimits.unlimited), allowsPrivateNetwork: true)
    }

    /// The note is synced at the opening. The file is synced every 16 MiB and at the end.
    @Test(arguments: [("x.part.meta.new", "/file"), ("x.part", "/file"), ("x.part", "/large")])
    func `a download on a silent disk fails after 2 s and frees its slot`(silent: String, place: String) throws {
        let root = try #require(try folder.shell("cd root; pwd -P").split(separator: "\n").first)
        unsafe silent_disk_begin("\(root)/\(silent)", 0)
        defer { silent_disk_speak() }
        let driver = try AgentDriver(filesRoot: folder.path("root"), diskLimit: .seconds(2))
        // Repeats the call if a busy disk had not answered for 2 s before.
        try TestClock.wait(60, for: "a sync that does not return") {
            let failure = try driver.run(call("x", from: place)).failure()
            #expect(failure.code == .file && failure.isRetryable, "\(failure)")
            #expect(failure.sent == .no || silent == "x.part")
            return silent_disk_waiting() == 1 && failure.message.contains("has not answered for 2.0 s")
        }
        #expect(driver.agent.callsInFlight == 0)
        // All downloads share the disk thread. Another download fails without a second wait. A call without a download
        // continues.
        #expect(try driver.run(call("y")).failure().code == .file)
        #expect(try driver.run(call(nil)).response().status == 200)
        silent_disk_speak()
        try TestClock.wait(20, for: "the file") { try driver.run(call("x")).download?.isComplete == true }
        #expect(folder.size("root/x") == 5)
        #expect(try folder.names("root") == ["x"])
    }

    private func parts(_ names: [String], to place: String) -> HTTPCall {
        HTTPCall(
            method: .post, url: target.url + place,
            body: .parts(names.map { BodyPart(name: $0, content: .file(path: $0)) }),
            limits: CallLimits(total: CallLimits.unlimited), allowsPrivateNetwork: true)
    }

    /// The disk is silent while the file is opened or read: first for the call's first file, then for its second.
    @Test(arguments: ["a", "b"])
    func `an upload from a silent disk fails after 2 s without blocking other calls`(silent: String) throws {
        let root = try #require(try folder.shell("cd root; pwd -P").split(separator: "\n").first)
        try folder.shell("printf hello > root/a; head -c 3000000 /dev/zero > root/b")
        let driver = try AgentDriver(filesRoot: folder.path("root"), diskLimit: .seconds(2))
        let call = parts(["a", "b"], to: "/parts")
        #expect(try driver.run(call).response().status == 200)
        for wait in [Silence.opening, .reading] {
            // The agent reads the beginning of the body before it sends anything.
            let reads: Int32 = silent == "a" ? 0 : 1
            unsafe silent_disk_begin("\(root)/\(silent)", wait == .opening ? 0 : 1 + reads)
            defer { silent_disk_speak() }
            driver.agent.start(call, slot: 0)
            try TestClock.wait(20, for: "a disk that does not return") {
                try driver.turn(for: 10)
                return driver.agent.takeFinished().isEmpty && silent_disk_waiting() == 1
            }
            // The loop does not wait.
            driver.agent.start(self.call(nil), slot: 1)
            let ended = try driver.wait(for: 2).sorted { $0.slot < $1.slot }.map(\.outcome)
            #expect(try ended[1].response().status == 200)
            let failure = try ended[0].failure()
            let sent = wait == .opening || silent == "a" ? SentState.no : .maybe
            #expect(failure.code == .file && failure.isRetryable && failure.sent == sent, "\(failure)")
            #expect(failure.message.contains("\"\(silent)\" has not answered for 2.0 s"), "\(failure)")
            #expect(driver.agent.callsInFlight == 0)
            silent_disk_speak()
            try TestClock.wait(20, for: "the disk") {
                if case .response = try driver.run(call).ending { true } else { false }
            }
        }
    }

    private enum Silence { case opening, reading }

    /// A refusal, which ends the call at once, and an answer whose server goes on reading.
    @Test(arguments: [413, 200])
    func `an answer that arrives while the upload's disk is silent ends the call`(status: Int) throws {
        let root = try #require(try folder.shell("cd root; pwd -P").split(separator: "\n").first)
        try folder.shell("head -c 3000000 /dev/zero > root/b")
        let server = try GatedAnswerServer("HTTP/1.1 \(status) Now\r\nContent-Length: 2\r\n\r\n{}")
        let driver = try AgentDriver(filesRoot: folder.path("root"), diskLimit: .seconds(4))
        unsafe silent_disk_begin("\(root)/b", 2)
        defer { silent_disk_speak() }
        var call = parts(["b"], to: "/")
        call.url = server.url
        driver.agent.start(call, slot: 0)
        try TestClock.wait(20, for: "a disk that does not return") {
            try driver.turn(for: 10)
            return driver.agent.takeFinished().isEmpty && silent_disk_waiting() == 1
        }
        let began = TestClock.now
        try server.allowAnswers()
        let outcome = try #require(try driver.wait(for: 1).first).outcome
        #expect(silent_disk_waiting() == 1)
        #expect(try outcome.response().status == status && outcome.response().text == "{}", "\(outcome)")
        if status == 413 { #expect(TestClock.now - began < 3_000_000_000) }
    }

    @Test func `an upload that waits for its disk reports no progress of the previous call`() throws {
        let root = try #require(try folder.shell("cd root; pwd -P").split(separator: "\n").first)
        try folder.shell("printf hello > root/a")
        let driver = try AgentDriver(filesRoot: folder.path("root"))
        // The next call gets the handle of this one.
        var before = call(nil, from: "/slow")
        before.method = .post
        before.body = .bytes([UInt8](repeating: 65, count: 100_000), contentType: nil)
        driver.agent.start(before, slot: 0)
        var seen: [TransferProgress] = []
        try TestClock.wait(20, for: "progress") {
            try driver.turn(for: 50)
            if let progress = driver.agent.progress(slot: 0) { seen.append(progress) }
            return !driver.agent.takeFinished().isEmpty
        }
        #expect(seen.last?.sent == 100_000)
        unsafe silent_disk_begin("\(root)/a", 0)
        defer { silent_disk_speak() }
        driver.agent.start(parts(["a"], to: "/file"), slot: 0)
        try TestClock.wait(20, for: "a disk that does not return") {
            try driver.turn(for: 10)
            return driver.agent.takeFinished().isEmpty && silent_disk_waiting() == 1
        }
        let progress = try #require(driver.agent.progress(slot: 0))
        #expect(progress.sent == 0 && progress.sendTotal == nil && progress.received == 0, "\(progress)")
        silent_disk_speak()
        #expect(try driver.wait(for: 1).first?.outcome.response().status == 200)
    }
}
