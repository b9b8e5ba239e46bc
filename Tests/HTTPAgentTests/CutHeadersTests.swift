// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

/// Connections that end before the empty line behind the headers. Their bytes are never an answer.
struct CutHeadersTests {
    private static let limits = CallLimits(total: .seconds(20))

    /// A target that sends these bytes and closes. For a path that ends in `/N` it sends only the first N bytes.
    private static func target(_ answer: String) throws -> TargetServer {
        try TargetServer { request in
            let length = Int(request.path.dropFirst()) ?? answer.utf8.count
            return [.send([UInt8](answer.utf8.prefix(length))), .close]
        }
    }

    private static func call(_ url: String, _ method: HTTPMethod = .get) -> HTTPCall {
        HTTPCall(
            method: method, url: url, body: method == .post ? .bytes([65], contentType: nil) : .none, limits: limits,
            allowsPrivateNetwork: true)
    }

    @Test(arguments: [HTTPMethod.get, .post, .head])
    func `a connection that ends anywhere inside the headers gives no answer`(method: HTTPMethod) throws {
        let line = "HTTP/1.1 200 OK\r\n"
        let head = line + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n"
        let target = try Self.target(head + (method == .head ? "" : "{}"))
        let driver = try AgentDriver()
        for length in 0..<head.utf8.count {
            let failure = try driver.run(Self.call("\(target.url)/\(length)", method)).failure()
            #expect(failure.code == (length < line.utf8.count ? .emptyReply : .truncated), "\(length): \(failure)")
            #expect(failure.sent == .maybe && failure.isRetryable)
            guard failure.code == .truncated else { continue }
            // If the length is known, libcurl reports the missing body before the missing empty line.
            let words = length < head.utf8.count - 2 || method == .head ? "inside its headers" : "is incomplete"
            #expect(failure.status == 200 && failure.message.contains(words), "\(length): \(failure)")
        }
        #expect(try driver.run(Self.call(target.url, method)).response().text == (method == .head ? "" : "{}"))
    }

    @Test(arguments: [
        ("HTTP/1.1 204 X\r\nX-A: b\r\n\r\n", HTTPMethod.get), ("HTTP/1.1 304 X\r\nETag: \"a\"\r\n\r\n", .get),
        ("HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n", .head), ("HTTP/1.0 200 X\r\nX-A: b\r\n\r\n", .get),
        ("HTTP/1.1 102 X\r\nX-A: b\r\n\r\nHTTP/1.1 200 X\r\nX-A: b\r\n\r\n", .post),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 X\r\nX-A: b\r\n\r\n", .post),
    ])
    func `an answer without a body is complete only after its empty line`(answer: String, method: HTTPMethod) throws {
        let target = try Self.target(answer)
        // The server also closes after a complete answer. A call that uses the connection before that is visible is not
        // sent again.
        #expect(try AgentDriver().run(Self.call(target.url, method)).response().body.isEmpty)
        let driver = try AgentDriver()
        for missing in 1...3 {
            let cut = try driver.run(Self.call("\(target.url)/\(answer.utf8.count - missing)", method)).failure()
            #expect(cut.code == .truncated, "\(cut)")
        }
    }

    @Test func `a connection that closes after an interim answer is an empty reply`() throws {
        let failure = try AgentDriver().run(Hostile.call("/only-interim")).failure()
        #expect(failure.code == .emptyReply && failure.sent == .maybe, "\(failure)")
    }

    @Test func `a redirect, refusal or proxy demand with cut headers is truncated and not followed`() throws {
        let there = try TargetServer { _ in TargetStep.answer(200, "there") }
        let heads = [
            "HTTP/1.1 302 X\r\nLocation: \(there.url)\r\n", "HTTP/1.1 429 X\r\nRetry-After: 7\r\n",
            "HTTP/1.1 401 X\r\nWWW-Authenticate: Bearer\r\n", "HTTP/1.1 407 X\r\nProxy-Authenticate: Basic\r\n",
        ]
        for head in heads {
            let target = try Self.target(head)
            let failure = try AgentDriver().run(Self.call(target.url)).failure()
            #expect(failure.code == .truncated, "\(head): \(failure)")
            var proxied = Self.call("http://127.0.0.1:1/")
            proxied.transport = Transport(proxy: target.url)
            let behind = try AgentDriver().run(proxied).failure()
            #expect(behind.code == .truncated, "\(head): \(behind)")
        }
        #expect(there.requests.isEmpty)
    }

    @Test func `a download with cut headers changes neither the existing file nor its part`() throws {
        let folder = try TestFolder()
        let driver = try AgentDriver(filesRoot: folder.path)
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
        let target = try TargetServer { request in
            let begun = request.turn == 1 && request.path == "/begun"
            let text = begun ? head + "ETag: \"a\"\r\nContent-Length: 9\r\n\r\n0123" : head
            return [.send([UInt8](text.utf8)), .pause(milliseconds: 50), .close]
        }
        try folder.write("file", "good")
        func run(_ path: String) throws -> CallOutcome {
            var call = Self.call(target.url + path)
            call.download = Download(path: "file")
            return try driver.run(call)
        }
        #expect(try run("/").failure().code == .truncated)
        #expect(try folder.names(".") == ["file"])
        for _ in 1...2 { #expect(try run("/begun").failure().code == .truncated) }
        #expect(folder.size("file.part") == 4)
        #expect(folder.read("file") == [UInt8]("good".utf8))
    }
}
