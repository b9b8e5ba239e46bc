// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// Answers to a download, from a server that can send any answer.
struct DownloadTests {
    private let folder: TestFolder
    private let driver: AgentDriver

    init() throws {
        folder = try TestFolder()
        driver = try AgentDriver(filesRoot: folder.path)
    }

    private func call(
        _ url: String, _ path: String = "file", method: HTTPMethod = .get, headers: [HTTPHeader] = [],
        sha256: [UInt8]? = nil, maxBytes: Int64? = nil, limits: CallLimits = CallLimits(total: .seconds(20))
    ) -> HTTPCall {
        HTTPCall(
            method: method, url: url, headers: headers,
            download: Download(path: path, sha256: sha256, maxBytes: maxBytes), limits: limits,
            allowsPrivateNetwork: true)
    }

    /// A download that broke off after `0123`. The first answer has these `headers`.
    private func brokenOff(_ headers: String, then rest: @escaping @Sendable (TargetRequest) -> [TargetStep]) throws
        -> TargetServer
    {
        let target = try TargetServer { request in
            if request.turn > 1 { return rest(request) }
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\(headers)\r\n\r\n"
            return [.send([UInt8]((head + "0123").utf8)), .pause(milliseconds: 50), .close]
        }
        let outcome = try driver.run(call(target.url))
        #expect(try outcome.failure().code == .truncated)
        #expect(outcome.download == DownloadProgress(bytesDone: 4, bytesTotal: 10, gained: 4))
        #expect(folder.size("file.part") == 4 && folder.size("file") == -1)
        return target
    }

    private var text: String? { folder.read("file").map { String(decoding: $0, as: UTF8.self) } }

    private static func part(_ range: String, _ body: String, _ headers: [String] = []) -> [TargetStep] {
        TargetStep.answer(206, body, headers: ["Content-Range: bytes \(range)"] + headers)
    }

    @Test func `a download creates missing directories and replaces an existing file`() throws {
        let target = try TargetServer { _ in
            TargetStep.answer(200, "hello", headers: ["Content-Disposition: attachment; filename=\"../x\""])
        }
        try folder.write("a/b/file", "old")
        for path in ["a/b/file", "new/deep/file"] {
            let outcome = try driver.run(call(target.url, path))
            #expect(try outcome.response().body.isEmpty && outcome.response().status == 200)
            #expect(outcome.download == DownloadProgress(bytesDone: 5, bytesTotal: 5, gained: 5, isComplete: true))
            #expect(folder.read(path) == [UInt8]("hello".utf8))
        }
        #expect(try folder.names("a/b") == ["file"])
        #expect(target.requests.allSatisfy { $0.header("accept-encoding") == "identity" && $0.header("range") == nil })
    }

    @Test func `a download of an empty body creates an empty file`() throws {
        let target = try TargetServer { _ in TargetStep.answer(200, "") }
        #expect(try driver.run(call(target.url)).download?.isComplete == true)
        #expect(folder.size("file") == 0)
    }

    @Test func `a chunked download of unknown size arrives complete`() throws {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        let target = try TargetServer { _ in [.send([UInt8](answer.utf8))] }
        #expect(try driver.run(call(target.url)).download?.bytesTotal == 5)
        #expect(text == "abcde")
    }

    @Test func `an error status gives an ordinary body and changes neither file nor part`() throws {
        let target = try brokenOff("ETag: \"v1\"") { _ in TargetStep.answer(404, "no such file") }
        try folder.write("file", "old")
        let outcome = try driver.run(call(target.url))
        #expect(try outcome.response().status == 404 && outcome.response().text == "no such file")
        #expect(folder.size("file.part") == 4 && text == "old")
        #expect(outcome.download == DownloadProgress(bytesDone: 4, bytesTotal: 10, gained: 0))
        _ = try driver.run(call(target.url, "other"))
        #expect(try folder.names().sorted() == ["file", "file.part", "file.part.meta"])
        let small = CallLimits(total: .seconds(20), maxResponseBytes: 5)
        let large = try driver.run(call(target.url, limits: small))
        #expect(try large.failure().code == .tooLarge && large.timings.total < Int64(Soak.seconds(5) * 1e6))
    }

    @Test func `the meta file of a part has the format that later versions read`() throws {
        _ = try brokenOff("ETag: \"v1\"\r\nLast-Modified: Fri, 27 Nov 2026 08:00:00 GMT") { _ in [] }
        let note = String(decoding: try #require(folder.read("file.part.meta")), as: UTF8.self)
        // The first line ends with the host and the process of the worker.
        let lines = note.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.first?.hasPrefix("postrider-part 1 ") == true)
        // The second line holds the SHA-256 of the URL.
        #expect(lines[1].wholeMatch(of: /url [0-9a-f]{64}/) != nil)
        #expect(
            lines.dropFirst(2) == [
                "etag \"v1\"", "dated Fri, 27 Nov 2026 08:00:00 GMT", "total 10", "durable 4", "end", "",
            ])
    }

    @Test func `a resumed download requests the rest with If-Range and appends it to the part`() throws {
        let target = try brokenOff("ETag: \"v1\"") { _ in Self.part("4-9/10", "456789", ["ETag: \"v1\""]) }
        let outcome = try driver.run(call(target.url))
        #expect(outcome.download == DownloadProgress(bytesDone: 10, bytesTotal: 10, gained: 6, isComplete: true))
        #expect(try outcome.response().status == 206 && text == "0123456789")
        let request = target.requests[1]
        #expect(request.header("range") == "bytes=4-" && request.header("if-range") == "\"v1\"")
    }

    @Test(arguments: [
        // Last-Modified counts as strong if Date is at least a minute later (AnswerHeaders.strongModified).
        ("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 09:49:37 GMT", true),
        ("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:49:40 GMT", false),
        ("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", false), ("ETag: W/\"v1\"", false), ("X-None: 1", false),
    ])
    func `a download without a strong ETag or Last-Modified starts from the beginning`(headers: String, isStrong: Bool)
        throws
    {
        let target = try brokenOff(headers) { request in
            request.header("range") == nil
                ? TargetStep.answer(200, "ABCDEFGHIJ")
                : Self.part("4-9/10", "456789", ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"])
        }
        #expect(try driver.run(call(target.url)).download?.isComplete == true)
        #expect(target.requests[1].header("if-range") == (isStrong ? "Sun, 06 Nov 1994 08:49:37 GMT" : nil))
        #expect(text == (isStrong ? "0123456789" : "ABCDEFGHIJ"))
    }

    @Test func `a changed file that arrives with 200 replaces the part`() throws {
        let target = try brokenOff("ETag: \"v1\"") { _ in TargetStep.answer(200, "ABCDEF", headers: ["ETag: \"v2\""]) }
        let outcome = try driver.run(call(target.url))
        #expect(outcome.download == DownloadProgress(bytesDone: 6, bytesTotal: 6, gained: 2, isComplete: true))
        #expect(text == "ABCDEF")
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nETag: \"v2\"\r\nContent-Length: 2\r\n\r\nAB",
        "HTTP/1.1 200 OK\r\nETag: \"v2\"\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nAB\r\n0\r\n\r\n",
    ])
    func `a new version smaller than the part is complete after its last byte`(answer: String) throws {
        let target = try brokenOff("ETag: \"v1\"") { _ in [.send([UInt8](answer.utf8))] }
        let outcome = try driver.run(call(target.url))
        #expect(outcome.download == DownloadProgress(bytesDone: 2, bytesTotal: 2, gained: 0, isComplete: true))
        #expect(text == "AB" && target.requests[1].header("range") == "bytes=4-")
    }

    private static let etag = "ETag: \"v1\""

    @Test(arguments: [
        [etag, "Content-Range: bytes 3-9/10"], [etag, "Content-Range: bytes 4-10/11"],
        [etag, "Content-Range: bytes 4-9/*"], [etag, "Content-Type: multipart/byteranges; boundary=x"],
        [etag, "Content-Range: bytes 9-4/10"], [etag, "Content-Range: items 4-9/10"],
        [etag, "Content-Range: bytes 99999999999999999999-9/10"],
        [etag, "Content-Range: bytes 4-9/10", "Content-Range: bytes 4-9/10"],
        ["Content-Range: bytes 4-9/10", "ETag: \"v2\""], ["Content-Range: bytes 4-9/10", "ETag: W/\"v1\""],
        // No ETag, though the part has one.
        ["Content-Range: bytes 4-9/10"],
    ])
    func `a 206 that does not match the part is dropped and the whole file requested`(lie: [String]) throws {
        let target = try brokenOff("ETag: \"v1\"") { request in
            request.header("range") == nil
                ? TargetStep.answer(200, "ABCDEFGHIJ") : TargetStep.answer(206, "xxxxxx", headers: lie)
        }
        #expect(try driver.run(call(target.url)).download?.isComplete == true)
        #expect(text == "ABCDEFGHIJ" && target.requests.count == 3)
    }

    private static let old = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
    private static let date = "Date: Sun, 06 Nov 1994 09:49:37 GMT"

    @Test(arguments: [
        // The headers of the first version, the headers of the second, and whether they may be the same version.
        ([old, date], ["Last-Modified: Mon, 07 Nov 1994 08:49:37 GMT"], false), ([old, date], [], false),
        ([old, date], [old], true),
        (["ETag: \"v1\"", old, date], ["Last-Modified: Mon, 07 Nov 1994 08:49:37 GMT"], false),
        (["ETag: \"v1\"", old, date], ["ETag: \"v1\"", "Last-Modified: Mon, 07 Nov 1994 08:49:37 GMT"], false),
        (["ETag: \"v1\"", old], ["ETag: \"v1\"", "Last-Modified: Mon, 07 Nov 1994 08:49:37 GMT"], false),
        (["ETag: \"v1\"", old, date], ["ETag: \"v1\""], true),
        (["ETag: \"v1\""], ["ETag: \"v1\"", old], true),
    ])
    func `a 206 from another version of the file is never appended to the part`(
        known: [String], said: [String], isSame: Bool
    ) throws {
        let target = try brokenOff(known.joined(separator: "\r\n")) { request in
            request.header("range") == nil
                ? TargetStep.answer(200, "ABCDEFGHIJ") : Self.part("4-9/10", "456789", said)
        }
        #expect(try driver.run(call(target.url)).download?.isComplete == true)
        #expect(text == (isSame ? "0123456789" : "ABCDEFGHIJ"))
        #expect(target.requests.count == (isSame ? 2 : 3))
    }

    @Test func `an answer without content leaves the existing file unchanged`() throws {
        try folder.write("file", "old")
        for status in [204, 205, 304] {
            let target = try TargetServer { _ in
                [.send([UInt8]("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n".utf8))]
            }
            let download = Download(path: "file", okStatuses: StatusRanges(bounds: [200, 300, 304, 305]))
            let outcome = try driver.run(
                HTTPCall(url: target.url, download: download, limits: .standard, allowsPrivateNetwork: true))
            #expect(try outcome.response().status == status)
            #expect(outcome.download?.isComplete != true && text == "old")
            #expect(try folder.names() == ["file"])
        }
        let target = try TargetServer { _ in [.send([UInt8]("HTTP/1.1 204 X\r\n\r\n".utf8))] }
        let sum = [UInt8](repeating: 7, count: 32)
        #expect(try driver.run(call(target.url, sha256: sum)).failure().code == .checksum)
        #expect(text == "old")
    }

    @Test func `an unrequested 206 that holds the whole file completes the download`() throws {
        let target = try TargetServer { _ in Self.part("0-3/4", "0123") }
        #expect(try driver.run(call(target.url)).download?.isComplete == true)
        #expect(text == "0123")
    }

    @Test func `a short 206 after an answer of unknown length leaves the download incomplete`() throws {
        let target = try TargetServer { request in
            switch request.turn {
            case 1:
                let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"v1\"\r\n\r\n4\r\n0123\r\n"
                return [.send([UInt8](head.utf8)), .pause(milliseconds: 50), .close]
            case 2: return Self.part("4-6/10", "456", ["ETag: \"v1\""])
            default: return Self.part("7-9/10", "789", ["ETag: \"v1\""])
            }
        }
        #expect(try driver.run(call(target.url)).download == DownloadProgress(bytesDone: 4, bytesTotal: nil, gained: 4))
        let short = try driver.run(call(target.url))
        #expect(try short.failure().code == .truncated)
        #expect(short.download == DownloadProgress(bytesDone: 7, bytesTotal: 10, gained: 3))
        #expect(try driver.run(call(target.url)).download?.isComplete == true)
        #expect(target.requests.last?.header("range") == "bytes=7-" && text == "0123456789")
    }

    @Test func `a 206 that was not requested or is too short fails as truncated`() throws {
        let target = try TargetServer { _ in Self.part("0-3/10", "0123") }
        #expect(try driver.run(call(target.url)).failure().code == .truncated)
        let short = try brokenOff("ETag: \"v1\"") { request in
            request.turn == 2
                ? Self.part("4-6/10", "456", ["ETag: \"v1\""]) : Self.part("7-9/10", "789", ["ETag: \"v1\""])
        }
        let outcome = try driver.run(call(short.url))
        #expect(try outcome.failure().code == .truncated)
        #expect(outcome.download == DownloadProgress(bytesDone: 7, bytesTotal: 10, gained: 3))
        #expect(try driver.run(call(short.url)).download?.isComplete == true)
        #expect(text == "0123456789")
    }

    @Test func `a resumed download that gets 416 requests the whole file once and then reports 416`() throws {
        let target = try brokenOff("ETag: \"v1\"") { request in
            request.turn == 2
                ? TargetStep.answer(416, "", headers: ["Content-Range: bytes */3"])
                : TargetStep.answer(416, "no")
        }
        #expect(try driver.run(call(target.url)).response().status == 416)
        #expect(target.requests.count == 3 && folder.size("file.part") == 4)
    }

    @Test func `a 416 that confirms the part's size completes the download`() throws {
        let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n"
        let target = try TargetServer { request in
            request.turn == 1
                ? [.send([UInt8](head.utf8)), .pause(milliseconds: 50), .close]
                : TargetStep.answer(416, "gone", headers: ["Content-Range: bytes */4"])
        }
        #expect(try driver.run(call(target.url)).failure().code == .truncated)
        let outcome = try driver.run(call(target.url))
        #expect(outcome.download == DownloadProgress(bytesDone: 4, bytesTotal: 4, gained: 0, isComplete: true))
        #expect(text == "0123")
    }

    @Test func `a download from another URL does not resume the part`() throws {
        let target = try brokenOff("ETag: \"v1\"") { _ in Self.part("4-9/10", "456789") }
        // The first server keeps its port, so that the second one gets another URL.
        defer { withExtendedLifetime(target) {} }
        let whole = try TargetServer { _ in TargetStep.answer(200, "ABCDEFGHIJ") }
        #expect(try driver.run(call(whole.url)).download?.isComplete == true)
        #expect(whole.requests.first?.header("range") == nil && text == "ABCDEFGHIJ")
    }

    @Test func `a download over its size limit fails as too_large, with or without Content-Length`() throws {
        let sized = try TargetServer { _ in TargetStep.answer(200, "0123456789") }
        #expect(try driver.run(call(sized.url, maxBytes: 9)).failure().code == .tooLarge)
        #expect(try driver.run(call(sized.url, maxBytes: 10)).download?.isComplete == true)
        let chunked = try TargetServer { _ in
            [.send([UInt8]("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n".utf8))]
        }
        let failure = try driver.run(call(chunked.url, "two", maxBytes: 9)).failure()
        #expect(failure.code == .tooLarge && failure.message.contains("9 bytes"))
    }

    @Test func `a resumed download reports progress of the whole file and writes slow bytes within 15 s`() throws {
        let head = "HTTP/1.1 206 Part\r\nContent-Range: bytes 4-9/10\r\nETag: \"v1\"\r\nContent-Length: 6\r\n\r\n45"
        let target = try brokenOff("ETag: \"v1\"") { _ in [.send([UInt8](head.utf8)), .hang] }
        driver.agent.start(call(target.url), slot: 3)
        var seen: TransferProgress?
        try TestClock.wait(15, for: "6 of 10 bytes, there are \(seen as Any)") {
            try driver.turn(for: 50)
            _ = driver.agent.takeFinished()
            seen = driver.agent.progress(slot: 3)
            return seen?.received == 6 && folder.size("file.part") == 6
        }
        #expect(seen?.slot == 3 && seen?.receiveTotal == 10)
    }

    @Test func `a download follows redirects and does not store their bodies`() throws {
        let target = try TargetServer { request in
            request.path == "/moved"
                ? TargetStep.answer(200, "here") : TargetStep.answer(302, "elsewhere", headers: ["Location: /moved"])
        }
        #expect(try driver.run(call(target.url)).download?.isComplete == true)
        #expect(text == "here")
    }
}
