// SPDX-License-Identifier: Apache-2.0

import HTTPAgent
import HostileTarget
import JobModel
import PGClient
import TestSupport
import Testing

@testable import WorkerCLI

/// The audit must find faults. These tests feed it wrong ends of calls.
struct AuditVerdictTests {
    private static let ok = CallOutcome(.response(HTTPResponse(status: 200, body: [UInt8]("ok".utf8))))

    private static func answer(_ text: String, status: Int = 200, headers: String = "") -> CallOutcome {
        CallOutcome(
            .response(HTTPResponse(status: status, headerBlock: [UInt8](headers.utf8), body: [UInt8](text.utf8))))
    }

    private static func failure(_ code: ErrorCode, sent: SentState = .no, _ message: String = "no") -> CallOutcome {
        CallOutcome(.failure(CallFailure(code, message, sent: sent)))
    }

    private static func trace(
        _ outcome: CallOutcome?, connections: Int = 0, requests: Int = 0, elsewhere: Int = 0
    ) -> CallTrace {
        CallTrace(
            outcome: outcome, connections: connections, requests: requests, elsewhere: elsewhere, innocent: ok)
    }

    private static func finding(_ end: RequiredEnd, _ trace: CallTrace, growthLimit: Int? = nil) -> Finding {
        AuditVerdict.finding(
            HostileInput("group", "it", HTTPCall(url: "http://h/"), end, growthLimit: growthLimit), trace)
    }

    private static let arrived = RequiredEnd.arrived(
        holds: ["GET / HTTP/1.1", "X-A: b"], lacks: ["x-injected:", "cookie:"])

    /// Correct ends.
    private static let right: [(RequiredEnd, CallTrace)] = [
        (.refused([.badURL, .deniedAddress]), trace(failure(.deniedAddress))),
        (.failed([.reset], requests: 2), trace(failure(.reset, sent: .maybe), connections: 2, requests: 2)),
        (.failed([.reset, .truncated], requests: 1), trace(failure(.reset, sent: .maybe), requests: 1)),
        (.failed([.reset, .truncated], requests: 1), trace(failure(.truncated, sent: .maybe), requests: 1)),
        (.answered(body: [111, 107], headers: nil), trace(ok, requests: 1)),
        (.answered(body: [], headers: ["a: b", "c: d"]), trace(answer("", headers: "a: b\nc: d\n"))),
        (.answered(status: 101, body: [], headers: nil), trace(answer("", status: 101))),
        (arrived, trace(answer("GET / HTTP/1.1\r\nX-A: b\r\nX-B: x-injected: c\r\n\r\n"), requests: 1)),
        (.arrived(requests: 2, holds: [], lacks: []), trace(ok, requests: 1, elsewhere: 1)),
    ]

    @Test func `an expected end of a call is graded ok`() {
        for (end, trace) in Self.right {
            let finding = Self.finding(end, trace)
            #expect(finding.grade == .ok, "\(finding.text)")
        }
    }

    /// Wrong ends, each with a word that the report must contain.
    private static let wrong: [(RequiredEnd, CallTrace, String)] = [
        (.refused([.deniedAddress]), trace(failure(.connect)), "it ended as connect"),
        (.refused([.deniedAddress]), trace(failure(.deniedAddress, sent: .maybe)), "maybe sent"),
        (.refused([.deniedAddress]), trace(failure(.deniedAddress), connections: 1), "1 connections were made"),
        (.refused([.deniedAddress]), trace(failure(.deniedAddress), requests: 1), "a request came"),
        (.refused([.deniedAddress]), trace(failure(.deniedAddress), elsewhere: 1), "a request came"),
        (.refused([.deniedAddress]), trace(ok), "answered with status 200"),
        (.refused([.deniedAddress]), trace(nil), "did not end"),
        (.failed([.reset], requests: 1), trace(failure(.timeout, sent: .maybe), requests: 1), "it ended as timeout"),
        (
            .failed([.reset, .truncated], requests: 1), trace(failure(.timeout, sent: .maybe), requests: 1),
            "it ended as timeout"
        ),
        (
            .failed([.reset, .truncated], requests: 1), trace(failure(.reset, sent: .maybe), requests: 2),
            "2 requests came"
        ),
        (.failed([.reset, .truncated], requests: 1), trace(ok, requests: 1), "answered with status 200"),
        (.failed([.reset], requests: 1), trace(failure(.reset), requests: 2), "2 requests came"),
        (.failed([.reset], requests: 1), trace(failure(.reset), requests: 1, elsewhere: 1), "to the other server"),
        (.failed([.reset], requests: 1), trace(ok, requests: 1), "answered with status 200"),
        (.answered(body: [111], headers: nil), trace(ok), "and the body differs"),
        (.answered(body: [111, 107], headers: ["a: b"]), trace(ok), "header lines differ"),
        (.answered(body: [], headers: nil), trace(answer("", status: 500)), "status 500"),
        (.answered(body: [], headers: nil), trace(failure(.reset)), "it ended as reset"),
        (arrived, trace(answer("GET / HTTP/1.1\r\nX-A: c\r\n"), requests: 1), "1 lines of it did not arrive"),
        (
            arrived, trace(answer("GET / HTTP/1.1\r\nX-A: b\r\nX-Injected: c\r\n"), requests: 1),
            "it arrived with x-injected:"
        ),
        (
            arrived, trace(answer("GET / HTTP/1.1\r\nX-A: b\r\nX-B: c\nX-Injected: d\r\n"), requests: 1),
            "it arrived with x-injected:"
        ),
        (
            arrived, trace(answer("GET / HTTP/1.1\r\nX-A: b\r\nX-B: c\rCookie: d\r\n"), requests: 1),
            "it arrived with cookie:"
        ),
        (arrived, trace(answer("GET / HTTP/1.1\r\nX-A: b\r\n"), requests: 2), "2 requests came"),
        (arrived, trace(failure(.badHeader)), "it ended as bad_header"),
    ]

    @Test func `an unexpected end of a call is a fault that names the difference`() {
        for (end, trace, word) in Self.wrong {
            let finding = Self.finding(end, trace)
            #expect(finding.grade == .fault && finding.text.contains("it: must \(end.words); "), "\(finding.text)")
            #expect(finding.text.contains(word), "\(finding.text)")
        }
    }

    @Test func `audit also checks secrets, proxies, memory, files and a later innocent call`() {
        let end = RequiredEnd.failed([.reset], requests: 0)
        func fault(_ change: (inout CallTrace) -> Void) -> String {
            var trace = Self.trace(Self.failure(.reset))
            change(&trace)
            let finding = Self.finding(end, trace, growthLimit: 1 << 20)
            return finding.grade == .fault ? finding.text : "no fault"
        }
        #expect(fault { _ in } == "no fault")
        #expect(fault { $0.trapped = 1 }.contains("only the environment names"))
        #expect(fault { $0.growth = 3 << 20 }.contains("grew by 3 MiB; at most 1 MiB are allowed"))
        #expect(fault { $0.innocent = nil }.contains("a harmless call after it got no answer"))
        #expect(fault { $0.innocent = Self.failure(.reset) }.contains("a harmless call"))
        #expect(fault { $0.innocent = Self.answer("no") }.contains("a harmless call"))
        let told = fault { $0.outcome = Self.failure(.timeout, "at \(HostileInput.secret)") }
        #expect(told.contains("its message contains a secret") && !told.contains(HostileInput.secret))
        let call = HTTPCall(url: "http://h/")
        let looked = HostileInput("group", "it", call, end, also: { "a file is gone" })
        #expect(AuditVerdict.finding(looked, Self.trace(Self.failure(.reset))).text.contains("a file is gone"))
    }

    @Test func `audit detects an agent that reaches private addresses`() throws {
        let ground = try AuditGround()
        let driver = try AuditDriver(ground)
        let port = ground.first.port
        for host in ["http://127.0.0.1:\(port)/", "http://2130706433:\(port)/", "http://①②⑦.⓪.⓪.①:\(port)/"] {
            var input = try #require(HostileAddresses.inputs(ground).first { $0.text == host })
            #expect(AuditVerdict.finding(input, try driver.trace(input)).grade == .ok)
            input.call.allowsPrivateNetwork = true
            let trace = try driver.trace(input)
            #expect(trace.requests == 1, "\(host)")
            #expect(AuditVerdict.finding(input, trace).grade == .fault)
        }
        // Only the greeting of TLS arrives, but it counts as a connection.
        var input = try #require(HostileAddresses.inputs(ground).first { $0.text == "https://127.0.0.1:\(port)/" })
        input.call.allowsPrivateNetwork = true
        let trace = try driver.trace(input)
        #expect(trace.requests == 0 && trace.connections == 1)
        #expect(AuditVerdict.finding(input, trace).text.contains("1 connections were made"))
    }

    @Test func `audit detects injected headers, followed redirects and memory growth`() throws {
        let ground = try AuditGround()
        let driver = try AuditDriver(ground)
        let headers = [HTTPHeader("X-Injected", "1")]
        var input = HostileInput(
            "g", "it", ground.call("/echo", headers: headers), .arrived(holds: [], lacks: ["x-injected"]))
        #expect(AuditVerdict.finding(input, try driver.trace(input)).text.contains("it arrived with x-injected"))
        input.call = ground.call("/redirect?to=" + ground.second.url("/echo"))
        input.end = .failed([.deniedRedirect], requests: 1)
        #expect(AuditVerdict.finding(input, try driver.trace(input)).grade == .fault)
        input.call = ground.call("/bomb", limits: CallLimits(maxResponseBytes: 96 << 20))
        input.end = .failed([.tooLarge], requests: 1)
        input.growthLimit = 64 << 20
        #expect(AuditVerdict.finding(input, try driver.trace(input)).text.contains("the memory grew by"))
    }

    @Test func `an accepted row, or a refusal without column, hint or with a secret, is a fault`() {
        let row = HostileRow(text: "it", statement: "select 1", place: "jobs.url: ")
        func error(
            _ message: String, state: String = "PR001", detail: String? = nil, hint: String? = "do this"
        ) -> PGError {
            var error = PGError(.server, operation: "query", message, sqlState: SQLState(rawValue: state))
            error.detail = detail
            error.hint = hint
            return error
        }
        #expect(row.defect(error("jobs.url: no")) == nil)
        #expect(row.defect(nil) == "it was accepted")
        #expect(row.defect(error("no"))?.contains("does not say where") == true)
        #expect(row.defect(error("jobs.url_2: no"))?.contains("does not say where") == true)
        #expect(row.defect(error("jobs.url: no", hint: nil)) == "the refusal has no hint")
        #expect(row.defect(error("jobs.url: no", state: "XX000"))?.contains("XX000") == true)
        #expect(row.defect(error("jobs.url: no", state: "42703"))?.contains("42703") == true)
        for leak in [error("jobs.url: \(HostileInput.secret)"), error("jobs.url: no", detail: HostileInput.secret)] {
            let finding = RowAudit.finding(row, leak)
            #expect(finding.grade == .fault && finding.text.contains("quotes a secret"))
            #expect(!finding.text.contains(HostileInput.secret))
        }
        #expect(
            RowAudit.finding(row, error("x \(HostileInput.secret)", state: "XX000")).text.contains("secret-") == false)
    }

    @Test func `audit names the missing grant if its login cannot insert jobs`() throws {
        let queue = try TestQueue()
        let obstacle = try RowAudit(TestRole.reader.connect(queue)).obstacle()
        #expect(obstacle?.grade == .notice && obstacle?.text.contains("grant postrider_client to test_reader") == true)
        let client = try RowAudit(TestRole.client.connect(queue))
        #expect(try client.obstacle() == nil)
        var findings: [Finding] = []
        try client.run(HostileRows.all) { findings.append($0) }
        #expect(findings.count == HostileRows.all.count)
        #expect(findings.filter { $0.grade != .ok } == [])
    }
}
