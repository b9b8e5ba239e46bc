// SPDX-License-Identifier: Apache-2.0
import HTTPAgent
import HostileTarget
import JobModel
import TestSupport
import Testing

struct HostileAnswerTests {
    @Test(arguments: [
        ("/reset", ErrorCode.reset), ("/empty", .emptyReply), ("/garbage", .reset), ("/cut-length", .truncated),
        ("/cut-chunks", .truncated), ("/bad-chunk", .truncated), ("/bad-gzip", .decode),
        ("/huge-header", .headersTooLarge), ("/huge-headers", .headersTooLarge), ("/endless", .tooLarge),
        ("/bomb", .tooLarge), ("/endless-interim", .headersTooLarge), ("/two-lengths", .reset),
        ("/huge-length", .reset),
        ("/endless-line", .headersTooLarge), ("/endless-trailers", .headersTooLarge), ("/padded-gzip", .tooLarge),
        ("/stacked", .decode), ("/huge-chunk", .truncated), ("/negative-length", .truncated),
        ("/nul-header", .truncated), ("/odd-version", .reset),
    ])
    func `an answer that is none ends with its own code`(path: String, code: ErrorCode) throws {
        let outcome = try AgentDriver().run(Hostile.call(path))
        let failure = try outcome.failure()
        #expect(failure.code == code, "\(failure)")
        #expect(failure.sent == .maybe)
        #expect(failure.message.count > 20)
    }

    @Test func `a body cut short keeps the status that came before it`() throws {
        #expect(try AgentDriver().run(Hostile.call("/cut-length")).failure().status == 200)
        #expect(try AgentDriver().run(Hostile.call("/reset")).failure().status == nil)
    }

    @Test func `a body over the limit ends as too_large and one byte below does not`() throws {
        let driver = try AgentDriver()
        func call(_ limit: Int) throws -> HTTPCall {
            try Hostile.call("/ok", limits: CallLimits(total: .seconds(10), maxResponseBytes: limit))
        }
        #expect(try driver.run(call(2)).response().text == "ok")
        #expect(try driver.run(call(1)).failure().code == .tooLarge)
    }

    @Test func `a length that is told twice is one length`() throws {
        #expect(try AgentDriver().run(Hostile.call("/length-twice")).response().text == "ok")
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

    @Test func `a body of any bytes arrives exact`() throws {
        let response = try AgentDriver().run(Hostile.call("/nul")).response()
        #expect(response.body == [0, 0xFF, 0xFE] + [UInt8](#"{"a":"\u0000"}"#.utf8) + [0])
    }

    @Test func `a silent server ends as first_byte_timeout or timeout, whichever limit is shorter`() throws {
        let driver = try AgentDriver()
        let first = CallLimits(total: .seconds(10), firstByte: .milliseconds(150))
        let early = try driver.run(Hostile.call("/silent", limits: first))
        #expect(try early.failure().code == .firstByteTimeout)
        #expect(early.timings.total >= 150_000 && early.timings.total < Int64(Soak.seconds(2) * 1e6))
        let late = try driver.run(Hostile.call("/silent", limits: CallLimits(total: .milliseconds(200))))
        #expect(try late.failure().code == .timeout)
        #expect(try late.failure().sent == .maybe)
    }

    @Test func `a body that crawls ends as slow`() throws {
        let limits = CallLimits(total: .seconds(15), lowSpeedBytes: 100, lowSpeedTime: .seconds(1))
        let failure = try AgentDriver().run(Hostile.call("/drip", limits: limits)).failure()
        #expect(failure.code == .slow)
        #expect(failure.status == 200)
    }

    @Test func `a server that thinks longer than the low-speed time is not slow`() throws {
        let limits = CallLimits(total: .milliseconds(2_500), lowSpeedBytes: 100, lowSpeedTime: .seconds(1))
        #expect(try AgentDriver().run(Hostile.call("/silent", limits: limits)).failure().code == .timeout)
    }

    @Test func `a dead kept connection is replaced at once for GET and reported for POST`() throws {
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
