// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import JobModel
import TestSupport
import Testing

/// Bytes that arrive on an idle connection answer no call.
@Suite(.serialized)
struct IdleConnectionTests {
    private static let evil = #"{"evil":1}"#

    private static func answer(_ first: String, _ headers: String = "", body: String = evil) -> [UInt8] {
        [UInt8]("HTTP/1.1 \(first)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }

    private func call(_ url: String, _ method: HTTPMethod = .get) -> HTTPCall {
        HTTPCall(
            method: method, url: url, body: method == .post ? .bytes([65], contentType: nil) : .none,
            limits: CallLimits(total: .seconds(10)), allowsPrivateNetwork: true)
    }

    private static let late: [(HTTPMethod, String, [UInt8])] = [
        (.head, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", answer("200 OK")),
        (.get, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", answer("200 OK")),
        (.get, "HTTP/1.1 204 None\r\n\r\n", answer("200 OK")),
        (.get, "HTTP/1.1 204 None\r\n\r\n", answer("408 Late", "Connection: close\r\n")),
        (.get, "HTTP/1.1 304 Same\r\n\r\n", [UInt8](evil.utf8)),
    ]

    @Test(arguments: late.indices, [true, false])
    func `after late bytes on an idle connection, the next call is sent once on another`(
        index: Int, isSeen: Bool
    ) throws {
        let (method, first, bytes) = Self.late[index]
        let target = try TargetServer { request in
            if request.method == "POST" { return TargetStep.answer(200, "right") }
            return [.send([UInt8](first.utf8)), .pause(milliseconds: 50), .send(bytes)]
        }
        let driver = try AgentDriver()
        _ = try driver.run(call(target.url, method)).response()
        try TestClock.wait(10, for: "the late bytes") {
            if isSeen { try driver.turn(for: 10) }
            return target.underWay == 0
        }
        if isSeen { try driver.turn(for: 50) }
        driver.agent.start(call(target.url, .post), slot: 0)
        // Without a poll of the descriptors, the agent must find the new bytes before it writes the request.
        if !isSeen { driver.agent.timeout() }
        let outcome = try #require(try driver.wait(for: 1).first?.outcome)
        #expect(try outcome.response().text == "right", "\(outcome)")
        #expect(!outcome.reused && target.requests.count { $0.method == "POST" } == 1)
        #expect(try driver.run(call(target.url, .post)).reused)
    }

    @Test(arguments: [
        (HTTPMethod.head, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"),
        (.get, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
        (.get, "HTTP/1.1 204 None\r\n\r\n"),
        (.get, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        (.get, "HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 2\r\n\r\n{}"),
    ])
    func `a second answer behind the first in one read answers no call`(method: HTTPMethod, first: String) throws {
        // Two variants: the second is longer than one read of libcurl, so libcurl drops only a part of it.
        for rest in [Self.answer("200 OK"), Self.answer("200 OK", body: String(repeating: "x", count: 20_000))] {
            let target = try TargetServer { request in
                if request.method == "POST" || request.path == "/to" { return TargetStep.answer(200, "right") }
                return [.send([UInt8](first.utf8) + rest + Self.answer("200 OK"))]
            }
            let driver = try AgentDriver()
            let outcome = try driver.run(call(target.url, method))
            if first.contains("Location") { #expect(try outcome.response().text == "right", "\(outcome)") }
            #expect(try driver.run(call(target.url, .post)).response().text == "right")
            #expect(target.requests.count { $0.method == "POST" } == 1)
        }
    }

    @Test func `after the server closes an idle connection, the next call opens another`() throws {
        let target = try TargetServer { request in
            TargetStep.answer(200, "right") + (request.turn == 1 ? [.pause(milliseconds: 50), .close] : [])
        }
        let driver = try AgentDriver()
        #expect(try driver.run(call(target.url)).response().text == "right")
        #expect(driver.watched.count == 1)
        try TestClock.wait(10, for: "the end") {
            try driver.turn(for: 1_000)
            return driver.watched.isEmpty
        }
        let outcome = try driver.run(call(target.url, .post))
        #expect(try outcome.response().text == "right" && !outcome.reused)
    }

    @Test func `a download completes even if its answer arrives while the request is written`() throws {
        // More than one read of libcurl: the rest makes the descriptor readable.
        let size = 200_000
        let server = try InstantAnswerServer(answer: Self.answer("200 OK", body: String(repeating: "x", count: size)))
        let folder = try TestFolder()
        let driver = try AgentDriver(slots: 4, filesRoot: folder.path)
        // The answer arrives while these headers are written.
        let headers = (1...60).map { HTTPHeader("X-\($0)", String(repeating: "a", count: 8_000)) }
        for _ in 1...40 {
            for slot in 0..<4 {
                var call = call(server.url)
                call.headers = headers
                call.download = Download(path: "file\(slot)")
                driver.agent.start(call, slot: slot)
            }
            for finished in try driver.wait(for: 4) {
                #expect(finished.outcome.download?.isComplete == true, "\(finished.outcome)")
            }
        }
        for slot in 0..<4 { #expect(folder.size("file\(slot)") == size) }
    }

    @Test(arguments: [true, false])
    func `an idle TLS connection stays open despite session tickets and HTTP/2 settings`(shares: Bool) throws {
        let nginx = try NginxServer(firstPort: 21_970)
        let folder = try TestFolder()
        let driver = try AgentDriver(caFile: nginx.caFile, filesRoot: folder.path)
        for number in 1...5 {
            var call = call("https://localhost:\(nginx.tlsPort)/text")
            // A download uses HTTP/1.1.
            call.download = shares ? nil : Download(path: "file")
            let outcome = try driver.run(call)
            #expect(try outcome.response().text == (shares ? "hello" : ""))
            #expect(outcome.httpVersion == (shares ? "2" : "1.1") && outcome.reused == (number > 1), "\(outcome)")
            for _ in 1...3 { try driver.turn(for: 30) }
        }
    }

    @Test(arguments: ["1.2", "1.3"], ["/late", "/joined"])
    func `late bytes over TLS never answer a call, even inside the first answer's record`(
        tls: String, path: String
    ) throws {
        let nginx = try NginxServer(firstPort: 21_980)
        let server = try ExtraAnswerServer(as: nginx, tls: tls)
        for (turn, isSeen) in [true, false].enumerated() {
            let driver = try AgentDriver(caFile: nginx.caFile)
            let first = try driver.run(call(server.url + path))
            #expect(try first.response().text == "first")
            try TestClock.wait(20, for: "the late bytes") { server.lateAnswers > turn }
            if isSeen { try driver.turn(for: 50) }
            driver.agent.start(call(server.url, .post), slot: 0)
            if !isSeen { driver.agent.timeout() }
            let outcome = try #require(try driver.wait(for: 1).first?.outcome)
            #expect(try outcome.response().text == "right", "\(outcome)")
            #expect(!outcome.reused)
            // The session tickets came before the answer, and nothing came since.
            try driver.turn(for: 50)
            #expect(try driver.run(call(server.url, .post)).reused)
        }
    }
}
