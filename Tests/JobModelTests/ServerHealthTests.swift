// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

/// The evidence of a call about its server, and the condition for continuing an attempt at another server.
struct ServerHealthTests {
    private func failure(
        _ code: ErrorCode, sent: SentState = .maybe, status: Int? = nil, isLocal: Bool = false
    ) -> CallOutcome {
        var failure = CallFailure(code, "it failed", sent: sent, status: status)
        failure.isLocal = isLocal
        return CallOutcome(.failure(failure))
    }

    private func answer(_ status: Int) -> CallOutcome { CallOutcome(.response(HTTPResponse(status: status))) }

    private func kind(
        _ outcome: CallOutcome, _ method: HTTPMethod = .get, atMostOnce: Bool = false, hasNext: Bool? = true
    ) -> Verdict.Kind {
        var verdict = Verdict(outcome, okStatuses: .success, isAtMostOnce: atMostOnce, attempt: 1)
        verdict.continueElsewhere(from: outcome, to: hasNext.map { ServerChoice(id: 1, hasNext: $0) }, method: method)
        return verdict.kind
    }

    @Test(arguments: 100...599)
    func `only 502, 503 and 504 are failures of the server`(status: Int) {
        #expect(ServerHealth(answer(status)) == ([502, 503, 504].contains(status) ? .failed : .well))
    }

    @Test(arguments: ErrorCode.allCases)
    func `network failures count against a server, certificate errors and local failures do not`(code: ErrorCode) {
        let failing: [ErrorCode] = [
            .dns, .connect, .connectTimeout, .tls, .send, .firstByteTimeout, .slow, .timeout, .reset, .emptyReply,
            .truncated,
        ]
        let health = ServerHealth(failure(code))
        #expect((health == .failed) == failing.contains(code))
        if [.tlsVerify, .proxy, .deniedAddress, .badURL, .config, .template, .file, .internal].contains(code) {
            #expect(health == .unclear)
        }
        #expect(ServerHealth(failure(code, isLocal: true)) == .unclear)
    }

    @Test func `an attempt continues at another server if it is repeatable or nothing was sent`() {
        #expect(kind(failure(.timeout)) == .onward)
        #expect(kind(failure(.timeout), .put) == .onward)
        #expect(kind(failure(.timeout), .post) == .retryable)
        #expect(kind(failure(.connect, sent: .no), .post) == .onward)
        #expect(kind(answer(503)) == .onward)
        #expect(kind(answer(503), .patch) == .retryable)
        #expect(kind(answer(500)) == .retryable)
        #expect(kind(answer(404)) == .failed)
        #expect(kind(answer(200)) == .succeeded)
    }

    @Test func `a 503 with Retry-After leads to another server, or pauses the lane`() {
        let busy = CallOutcome(.response(HTTPResponse(status: 503, retryAfter: .seconds(60))))
        var verdict = Verdict(busy, okStatuses: .success, isAtMostOnce: false, attempt: 1)
        verdict.continueElsewhere(from: busy, to: ServerChoice(id: 1, hasNext: true), method: .get)
        #expect(verdict.kind == .onward)
        #expect(verdict.retryAfter == nil)
        #expect(kind(busy, hasNext: false) == .held)
        #expect(kind(busy, .post) == .held)
    }

    @Test func `an at_most_once attempt continues at another server only if nothing was sent`() {
        #expect(kind(failure(.connect, sent: .no), .post, atMostOnce: true) == .onward)
        #expect(kind(failure(.timeout), .get, atMostOnce: true) == .unknown)
        #expect(kind(answer(503), .get, atMostOnce: true) == .failed)
    }

    @Test func `an attempt stays at its server without another server or after a local failure`() {
        #expect(kind(failure(.timeout), hasNext: false) == .retryable)
        #expect(kind(failure(.timeout), hasNext: nil) == .retryable)
        #expect(kind(failure(.connect, sent: .no, isLocal: true)) == .retryable)
        #expect(kind(answer(429)) == .held)
    }
}
