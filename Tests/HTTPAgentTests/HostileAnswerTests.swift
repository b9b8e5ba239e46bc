// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

struct HostileAnswerTests {
    @Test(arguments: [
        ("/reset", ErrorCode.reset), ("/empty", .emptyReply), ("/garbage", .reset), ("/cut-length", .truncated),
        ("/cut-headers", .truncated), ("/cut-line", .truncated),
        ("/cut-chunks", .truncated), ("/bad-chunk", .truncated),
        ("/huge-header", .headersTooLarge), ("/huge-headers", .headersTooLarge), ("/endless", .tooLarge),
        ("/bomb", .tooLarge), ("/endless-interim", .headersTooLarge), ("/two-lengths", .reset),
        ("/huge-length", .reset), ("/length-list", .reset), ("/length-comma", .reset), ("/length-hex", .reset),
        ("/endless-line", .headersTooLarge), ("/endless-trailers", .headersTooLarge), ("/padded-gzip", .tooLarge),
        ("/stacked", .decode), ("/huge-chunk", .truncated), ("/negative-length", .truncated),
        ("/nul-header", .truncated), ("/odd-version", .reset),
    ])
    func `each kind of broken answer fails with its own error code`(path: String, code: ErrorCode) throws {
        let outcome = try AgentDriver().run(Hostile.call(path))
        let failure = try outcome.failure()
        #expect(failure.code == code, "\(failure)")
        #expect(failure.sent == .maybe)
        #expect(failure.message.count > 20)
    }

    @Test func `an answer that cannot be decoded keeps its body as received`() throws {
        let response = try AgentDriver().run(Hostile.call("/bad-gzip")).response()
        #expect(response.bodyDefect?.code == .decode && !response.body.isEmpty)
    }

    @Test func `a failure keeps the status if the answer broke off after its status`() throws {
        #expect(try AgentDriver().run(Hostile.call("/cut-length")).failure().status == 200)
        #expect(try AgentDriver().run(Hostile.call("/reset")).failure().status == nil)
    }

    private static let brokenBodies = [
        "Content-Encoding: x-own\r\nContent-Length: 2\r\n\r\nno", "Content-Length: 50\r\n\r\nno",
        "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nno",
        "Content-Length: 3000\r\n\r\n" + String(repeating: "a", count: 3_000),
    ]

    @Test(arguments: ["401", "403", "423", "429", "503", "200", "500"], brokenBodies)
    func `a refusal counts despite a cut body, but a 200 or 500 does not`(status: String, rest: String) throws {
        let answer = "HTTP/1.1 \(status) X\r\nRetry-After: 7\r\n\(rest)"
        let target = try TargetServer { _ in [.send([UInt8](answer.utf8)), .pause(milliseconds: 50), .close] }
        let limits = CallLimits(total: .seconds(10), maxResponseBytes: 1_000)
        var outcome = try AgentDriver().run(HTTPCall(url: target.url, limits: limits, allowsPrivateNetwork: true))
        let isDecoding = rest.contains("Encoding")
        if !isDecoding, ["200", "500"].contains(status) {
            let codes: [ErrorCode] = [.truncated, .tooLarge]
            return #expect(try codes.contains(outcome.failure().code))
        }
        let response = try outcome.response()
        #expect(response.status == Int(status) && response.retryAfter == .seconds(7))
        #expect(response.body == (isDecoding ? [UInt8]("no".utf8) : []))
        let defect = try #require(response.bodyDefect)
        outcome.demandBody(of: .success)
        #expect(try outcome.response() == response)
        outcome.demandBody(of: StatusRanges(bounds: [400, 600]))
        if isDecoding {
            #expect(try defect.code == .decode && outcome.response() == response)
        } else {
            #expect(try outcome.failure() == defect)
        }
    }

    @Test(arguments: brokenBodies)
    func `a redirect is followed even if its body is broken`(rest: String) throws {
        let target = try TargetServer { request in
            if request.path == "/to" { return TargetStep.answer(200, "there") }
            let answer = "HTTP/1.1 302 X\r\nLocation: /to\r\n\(rest)"
            return [.send([UInt8](answer.utf8)), .pause(milliseconds: 50), .close]
        }
        let limits = CallLimits(total: .seconds(10), maxResponseBytes: 1_000)
        let call = HTTPCall(url: target.url, limits: limits, allowsPrivateNetwork: true)
        #expect(try AgentDriver().run(call).response().text == "there")
    }

    @Test func `a body at the size limit is accepted, and one byte more fails as too_large`() throws {
        let driver = try AgentDriver()
        func call(_ limit: Int) throws -> HTTPCall {
            try Hostile.call("/ok", limits: CallLimits(total: .seconds(10), maxResponseBytes: limit))
        }
        #expect(try driver.run(call(2)).response().text == "ok")
        #expect(try driver.run(call(1)).failure().code == .tooLarge)
    }

    @Test(arguments: ["/length-twice", "/lengths-alike"])
    func `a Content-Length sent twice with the same value is accepted`(path: String) throws {
        #expect(try AgentDriver().run(Hostile.call(path)).response().text == "ok")
    }

    @Test(arguments: [
        "5, 10", "5,", ",5", "5,,5", "5 5", "5;5", "5.0", "+5", "0x5", "5a", "a5", "5, 5, 6", "1,000", "\"5\"", "",
        "-5", "0000000000000000005", "99999999999999999999", "5\r\nContent-Length: 5, 6", "05\r\nContent-Length: 6",
        "1\r\n 0", "10,\r\n 10",
    ])
    func `an invalid Content-Length fails an answer with a body, but not HEAD or 304`(length: String) throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"
        let target = try TargetServer { request in
            if request.method == "HEAD" { return [.send([UInt8](head.utf8))] }
            let bare = head.replacing("200", with: request.path == "/304" ? "304" : "200")
            return [.send([UInt8]((bare + (request.path == "/304" ? "" : "helloworld")).utf8)), .close]
        }
        let driver = try AgentDriver()
        func run(_ path: String, _ method: HTTPMethod) throws -> CallOutcome {
            try driver.run(
                HTTPCall(
                    method: method, url: target.url + path, limits: CallLimits(total: .seconds(20)),
                    allowsPrivateNetwork: true))
        }
        for method in [HTTPMethod.get, .post] {
            let failure = try run("/", method).failure()
            #expect([.reset, .truncated].contains(failure.code) && failure.sent == .maybe, "\(failure)")
        }
        // libcurl itself refuses values that do not begin with a number.
        guard length.first?.isNumber == true || length.first == "+" else { return }
        #expect(try run("/", .head).response().status == 200)
        #expect(try run("/304", .get).response().status == 304)
    }

    @Test(arguments: ["10", "010", "10, 10", "10,10", "10 ,\t10 ", "10\r\nContent-Length: 10, 010"])
    func `equal Content-Length values in a list or in several lines count as one`(length: String) throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhelloworld"
        let target = try TargetServer { _ in [.send([UInt8](answer.utf8))] }
        let driver = try AgentDriver()
        let call = HTTPCall(url: target.url, limits: CallLimits(total: .seconds(20)), allowsPrivateNetwork: true)
        #expect(try driver.run(call).response().text == "helloworld")
        let again = try driver.run(call)
        #expect(try again.response().text == "helloworld" && again.reused)
    }

    @Test func `the error for an unknown encoding names Transfer-Encoding or Content-Encoding`() throws {
        let lines = ["foo", "foo, chunked", "chunked\r\nTransfer-Encoding: foo"].map { "Transfer-Encoding: \($0)" }
        for (line, name) in lines.map({ ($0, "Transfer-Encoding") }) + [("Content-Encoding: foo", "Content-Encoding")] {
            let answer = "HTTP/1.1 200 OK\r\n\(line)\r\n\r\n2\r\nok\r\n0\r\n\r\n"
            let target = try TargetServer { _ in [.send([UInt8](answer.utf8)), .close] }
            let call = HTTPCall(url: target.url, limits: CallLimits(total: .seconds(20)), allowsPrivateNetwork: true)
            let defect = try AgentDriver().run(call).response().bodyDefect
            #expect(defect?.code == .decode && defect?.message.contains("answer's \(name) ") == true, "\(line)")
        }
    }

    @Test func `300 headers of one name all arrive in order`() throws {
        let response = try AgentDriver().run(Hostile.call("/many-headers")).response()
        #expect(response.headerLines.filter { $0.hasPrefix("x-dup: ") } == (1...300).map { "x-dup: \($0)" })
    }

    @Test func `a folded header becomes one line`() throws {
        let response = try AgentDriver().run(Hostile.call("/folded")).response()
        #expect(response.headerLines == ["x-fold: one two", "content-length: 0"])
    }

    @Test func `only the final answer's headers are kept`() throws {
        let response = try AgentDriver().run(Hostile.call("/interim")).response()
        #expect(response.headerLines == ["x-final: yes", "content-length: 2"])
        #expect(response.text == "ok")
    }

    @Test func `a body with NUL and non-UTF-8 bytes arrives unchanged`() throws {
        let response = try AgentDriver().run(Hostile.call("/nul")).response()
        #expect(response.body == [0, 0xFF, 0xFE] + [UInt8](#"{"a":"\u0000"}"#.utf8) + [0])
    }

    @Test func `a call to a silent server fails as first_byte_timeout or timeout, by the shorter limit`() throws {
        let driver = try AgentDriver()
        let first = CallLimits(total: .seconds(10), firstByte: .milliseconds(150))
        let early = try driver.run(Hostile.call("/silent", limits: first))
        #expect(try early.failure().code == .firstByteTimeout)
        #expect(early.timings.total >= 150_000 && early.timings.total < Int64(Soak.seconds(2) * 1e6))
        let late = try driver.run(Hostile.call("/silent", limits: CallLimits(total: .milliseconds(200))))
        #expect(try late.failure().code == .timeout)
        #expect(try late.failure().sent == .maybe)
    }

    @Test func `an answer body below the speed limit fails as slow`() throws {
        let limits = CallLimits(total: .seconds(15), lowSpeedBytes: 100, lowSpeedTime: .seconds(1))
        let failure = try AgentDriver().run(Hostile.call("/drip", limits: limits)).failure()
        #expect(failure.code == .slow)
        #expect(failure.status == 200)
    }

    @Test func `a server that is silent beyond the low-speed time does not count as slow`() throws {
        let limits = CallLimits(total: .milliseconds(2_500), lowSpeedBytes: 100, lowSpeedTime: .seconds(1))
        #expect(try AgentDriver().run(Hostile.call("/silent", limits: limits)).failure().code == .timeout)
    }

    @Test func `a call on a dead idle connection is sent again for GET, not for POST`() throws {
        for (method, body) in [(HTTPMethod.get, RequestBody.none), (.post, .bytes([65], contentType: nil))] {
            let server = try HostileServer()
            let driver = try AgentDriver()
            func call(_ path: String) -> HTTPCall {
                HTTPCall(method: method, url: server.url(path), body: body, allowsPrivateNetwork: true)
            }
            #expect(try driver.run(call("/second-empty")).response().text == "ok")
            let second = try driver.run(call("/second-empty"))
            let failure = try second.failure()
            #expect(failure.sent == .maybe)
            #expect(server.requests(for: "/second-empty") == (method == .get ? 3 : 2), "\(failure)")
        }
    }
}
