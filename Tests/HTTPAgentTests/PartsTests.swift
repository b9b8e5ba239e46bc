// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

@Suite(.serialized)
struct PartsTests {
    private func call(
        _ url: String, _ parts: [BodyPart], method: HTTPMethod = .post, transport: Transport? = nil
    ) -> HTTPCall {
        HTTPCall(
            method: method, url: url, body: .parts(parts), transport: transport,
            limits: CallLimits(total: CallLimits.unlimited), allowsPrivateNetwork: true)
    }

    private func file(_ path: String, maxBytes: Int64? = nil) -> BodyPart {
        BodyPart(name: "f", content: .file(path: path), maxBytes: maxBytes)
    }

    @Test func `text, bytes and files of a multipart body arrive intact at a form parser`() throws {
        let (server, folder) = try (FormServer(), FilesFolder())
        let driver = try AgentDriver(filesRoot: folder.path)
        let parts = [
            BodyPart(name: "text", content: .bytes([UInt8]("grüße".utf8))), BodyPart(name: "none", content: .bytes([])),
            BodyPart(name: "raw", content: .bytes([0, 13, 10, 255]), filename: "ü ;.bin", type: "application/x-raw"),
            BodyPart(name: "file", content: .file(path: "sub/b.bin")),
            BodyPart(name: "again", content: .file(path: "a.txt"), filename: "x", type: "text/x", maxBytes: 5),
        ]
        for method in [HTTPMethod.post, .put, .post] {
            let outcome = try driver.run(call(server.url, parts, method: method))
            let lines = try outcome.response().text.split(separator: "\n").map { $0.split(separator: " ") }
            #expect(
                lines.map { $0.prefix(4).joined(separator: " ") } == [
                    "text - - 7", "none - - 0", "raw %C3%BC%20%3B.bin application%2Fx-raw 4",
                    "file b.bin application%2Foctet-stream 100000", "again x text%2Fx 5",
                ])
            #expect(try lines.dropFirst(3).first?.last ?? "" == folder.sha256("sub/b.bin"))
            #expect(outcome.bytesSent > 100_000)
        }
    }

    @Test func `quotes and line breaks in part names are escaped as browsers do`() throws {
        let part = BodyPart(name: "a\"b\r\nX: y", content: .bytes([65]), filename: "é\"\n--x")
        let text = try AgentDriver().run(call(Hostile.server.url("/echo"), [part])).response().text
        #expect(text.contains(#"name="a%22b%0D%0AX: y"; filename="é%22%0A--x""#))
        #expect(!text.contains("\r\nX: y"))
        let bad = BodyPart(name: "a", content: .bytes([65]), type: "text/x\r\nX: y")
        #expect(try AgentDriver().run(call(Hostile.server.url("/echo"), [bad])).failure().code == .badHeader)
    }

    @Test(arguments: ["application/json", "multipart/form-data; boundary=abc", "multipart/mixed"])
    func `a multipart body replaces a Content-Type header of the job`(type: String) throws {
        var call = try call(Hostile.server.url("/echo"), [BodyPart(name: "a", content: .bytes([65]))])
        call.headers = [HTTPHeader("content-type", type), HTTPHeader("X-Other", "kept")]
        let text = try AgentDriver().run(call).response().text
        #expect(text.contains("Content-Type: multipart/form-data; boundary=-") && text.contains("X-Other: kept"))
        #expect(text.contains("Content-Disposition: form-data; name=\"a\"") && !text.contains(type))
    }

    @Test(arguments: [
        "/etc/passwd", "../x", "sub/../../x", "up/passwd", "link", "up", "pipe", "sub", "sub/", ".", "", "a.txt/",
        "none.txt", "a.txt\0", "sub/../link", "/proc/self/environ", "//etc/passwd", "a.txt/..", "./a.txt", "sub//b.bin",
    ])
    func `an upload path to anything except a file below the root is refused before sending`(path: String) throws {
        let (server, folder) = try (HostileServer(), FilesFolder())
        let driver = try AgentDriver(filesRoot: folder.path)
        let outcome = try driver.run(call(server.url("/echo"), [file("a.txt"), file(path)]))
        let failure = try outcome.failure()
        #expect(failure.code == .file && failure.sent == .no, "\(failure)")
        #expect(!failure.message.contains(folder.path))
        #expect(server.requests(for: "/echo") == 0)
    }

    @Test func `an upload without a files root or over its size limit sends nothing`() throws {
        let (server, folder) = try (HostileServer(), FilesFolder())
        let refused = try AgentDriver().run(call(server.url("/echo"), [file("a.txt")])).failure()
        #expect(refused.code == .config && refused.message.contains("--files DIR"))
        let missing = try AgentDriver(filesRoot: folder.path + "/none")
        #expect(try missing.run(call(server.url("/echo"), [file("a.txt")])).failure().code == .file)
        let driver = try AgentDriver(filesRoot: folder.path)
        #expect(try driver.run(call(server.url("/echo"), [file("a.txt", maxBytes: 4)])).failure().code == .file)
        let bytes = BodyPart(name: "f", content: .bytes([1, 2]), maxBytes: 1)
        #expect(try driver.run(call(server.url("/echo"), [bytes])).failure().code == .file)
        #expect(server.requests(for: "/echo") == 0)
        #expect(try driver.run(call(server.url("/echo"), [file("a.txt", maxBytes: 5)])).response().status == 200)
    }

    @Test func `an upload repeated after a redirect or a dead connection starts its files anew`() throws {
        let (server, folder) = try (HostileServer(), FilesFolder())
        let driver = try AgentDriver(filesRoot: folder.path)
        let parts = [file("a.txt"), BodyPart(name: "t", content: .bytes([66])), file("sub/b.bin")]
        let direct = try driver.run(call(server.url("/echo"), parts)).response()
        let moved = try driver.run(call(server.url("/redirect?status=307&to=/echo"), parts)).response()
        #expect(
            moved.status == 200 && moved.body.count == direct.body.count && moved.text.contains("\r\n\r\nhello\r\n"))
        let put = call(server.url("/second-empty"), parts, method: .put)
        #expect(try driver.run(put).response().text == "ok")
        #expect(try driver.run(put).failure().code == .emptyReply)
        #expect(server.requests(for: "/second-empty") == 3)
        #expect(server.lastRequest(for: "/second-empty").contains("\r\n\r\nhello\r\n"))
        let other = try HostileServer()
        let away = try driver.run(call(server.url("/redirect?status=308&to=" + other.url("/echo")), parts))
        #expect(try away.failure().code == .deniedRedirect)
        let seen = try driver.run(call(server.url("/redirect?status=303&to=/echo"), parts)).response().text
        #expect(seen.hasPrefix("GET /echo") && !seen.contains("hello") && !seen.contains("Content-Type"))
    }

    @Test func `an upload is sent again if the server closes a reused connection after the headers`() throws {
        let (server, folder) = try (OneRequestServer(), FilesFolder())
        let driver = try AgentDriver(filesRoot: folder.path)
        var codes: [ErrorCode] = []
        for _ in 1...60 {
            let parts = [BodyPart(name: "t", content: .bytes([66])), file("a.txt")]
            if case .failure(let failure) = try driver.run(call(server.url, parts, method: .put)).ending {
                codes.append(failure.code)
            }
        }
        #expect(codes.isEmpty)
    }

    @Test func `files of a multipart body arrive intact in any order and size`() throws {
        let (server, folder) = try (FormServer(), FilesFolder())
        let driver = try AgentDriver(filesRoot: folder.path)
        try folder.fill("empty", megabytes: 0)
        try folder.fill("large", megabytes: 1)
        let names = ["empty", "empty", "a.txt", "large", "sub/b.bin", "sub/b.bin", "sub/b.bin", "sub/b.bin", "large"]
        for names in [names, names.reversed(), ["empty"], ["empty", "a.txt"]] {
            let lines = try driver.run(call(server.url, names.map { file($0) })).response().text.split(separator: "\n")
            let sums = lines.compactMap { $0.split(separator: " ").last.map(String.init) }
            #expect(try sums == names.map { try folder.sha256($0) })
        }
    }

    @Test(arguments: [1 << 20, 300 << 20])
    func `an upload fails as file if its file shrinks or grows meanwhile`(bytes: Int) throws {
        let (server, folder) = try (FormServer(), FilesFolder())
        let driver = try AgentDriver(filesRoot: folder.path)
        folder.truncate("a.txt", to: 200 << 20)
        driver.agent.start(call(server.url, [file("a.txt")]), slot: 0)
        var sent: TransferProgress?
        while sent == nil {
            // 64 KiB per turn.
            try driver.turn(for: 5)
            #expect(driver.agent.takeFinished().isEmpty)
            if let progress = driver.agent.progress(slot: 0), progress.sent > 0 { sent = progress }
        }
        let total = try #require(sent?.sendTotal)
        #expect(total > 200 << 20 && total < 201 << 20)
        folder.truncate("a.txt", to: bytes)
        let failure = try #require(try driver.wait(for: 1).first).outcome.failure()
        #expect(failure.code == .file && failure.sent == .maybe && failure.message.contains("a.txt"), "\(failure)")
    }

    @Test func `an upload of a large file needs less than 40 MiB of extra memory`() throws {
        let (server, folder) = try (FormServer(), FilesFolder())
        let megabytes = Soak.count(1_024, reduced: 50)
        try folder.fill("large", megabytes: megabytes)
        let driver = try AgentDriver(filesRoot: folder.path)
        let before = ResidentMemory.bytes
        driver.agent.start(call(server.url, [file("large")]), slot: 0)
        var most = 0
        var outcome: CallOutcome?
        while outcome == nil {
            try driver.turn(for: 100)
            outcome = driver.agent.takeFinished().first?.outcome
            most = max(most, ResidentMemory.bytes)
        }
        let line = try #require(try outcome?.response().text)
        #expect(line.hasPrefix("f large application%2Foctet-stream \(megabytes << 20) "))
        #expect(try line.hasSuffix(folder.sha256("large")))
        #expect(most - before < 40 << 20, "\((most - before) >> 10) KiB more")
    }
}
