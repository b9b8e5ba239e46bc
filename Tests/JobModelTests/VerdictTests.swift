// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

/// The whole table from the ending of a call to the verdict on its job.
struct VerdictTests {
    /// A second copy of the list of error codes, so that a code that changes sides fails the test.
    static let retryableCodes: Set<ErrorCode> = [
        .dns, .connect, .connectTimeout, .tls, .proxy, .send, .firstByteTimeout, .slow, .timeout, .reset, .emptyReply,
        .truncated, .decode, .http429, .refreshFailed, .lostWorker,
    ]
    static let retryableStatuses: Set<Int> = [
        408, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529, 530, 598, 599,
    ]
    static let laneStatuses: Set<Int> = [403, 420, 429, 503, 509, 529]
    static let jobStatuses: Set<Int> = [409, 413, 423]
    /// With these statuses the server says that it has not acted.
    static let refusingStatuses: Set<Int> = [408, 425, 429]

    private func verdict(
        _ ending: CallOutcome.Ending, ok: StatusRanges = .success, atMostOnce: Bool = false, attempt: Int = 1
    ) -> Verdict {
        Verdict(CallOutcome(ending), okStatuses: ok, isAtMostOnce: atMostOnce, attempt: attempt)
    }

    private func failure(_ code: ErrorCode, sent: SentState, status: Int? = nil) -> CallOutcome.Ending {
        .failure(CallFailure(code, "why", sent: sent, status: status))
    }

    @Test(arguments: ErrorCode.allCases)
    func `an at_least_once job is retried by its error code, whether sent or not`(code: ErrorCode) {
        for sent in [SentState.no, .maybe] {
            let verdict = verdict(failure(code, sent: sent))
            #expect(verdict.kind == (Self.retryableCodes.contains(code) ? .retryable : .failed))
            #expect(verdict.code == code)
            #expect(verdict.message == "why")
        }
    }

    @Test(arguments: ErrorCode.allCases)
    func `an at_most_once job is retried only if nothing was sent, otherwise fails or is unknown`(code: ErrorCode) {
        let isRetryable = Self.retryableCodes.contains(code)
        #expect(verdict(failure(code, sent: .no), atMostOnce: true).kind == (isRetryable ? .retryable : .failed))
        let isKnown = [.deniedRedirect, .deniedAddress, .badURL, .badHeader, .checksum, .decode].contains(code)
        for status in [nil, 200] {
            let failure = failure(code, sent: .maybe, status: status)
            #expect(verdict(failure, atMostOnce: true).kind == (isKnown ? .failed : .unknown))
        }
    }

    @Test(arguments: 100...599)
    func `a status outside ok_statuses is retried only if the status is retryable`(status: Int) {
        let ending = CallOutcome.Ending.response(HTTPResponse(status: status, retryAfter: .seconds(7)))
        let verdict = verdict(ending)
        if (200..<300).contains(status) {
            #expect(verdict == .success)
        } else {
            let isRetryable = Self.retryableStatuses.contains(status)
            // With a Retry-After, these statuses delay all calls of the lane, or this job.
            let kind: Verdict.Kind? =
                Self.laneStatuses.contains(status) ? .held : Self.jobStatuses.contains(status) ? .delayed : nil
            #expect(verdict.kind == kind ?? (isRetryable ? .retryable : .failed))
            #expect(verdict.code == (status == 429 ? .http429 : .httpStatus))
            #expect(verdict.retryAfter == (isRetryable || kind != nil ? .seconds(7) : nil))
        }
    }

    @Test(arguments: 100...599)
    func `an at_most_once job is retried only after 408, 425 or 429`(status: Int) {
        let verdict = verdict(.response(HTTPResponse(status: status)), atMostOnce: true)
        if (200..<300).contains(status) {
            #expect(verdict.kind == .succeeded)
        } else {
            let again: Verdict.Kind = status == 429 ? .held : .retryable
            #expect(verdict.kind == (Self.refusingStatuses.contains(status) ? again : .failed))
        }
    }

    @Test func `the answer of a stub lets its job wait, but pauses no lane`() {
        func judged(_ status: Int, retryAfter: Duration? = nil, quotaReset: Duration? = nil) -> Verdict {
            var verdict = verdict(
                .response(HTTPResponse(status: status, retryAfter: retryAfter, quotaReset: quotaReset)))
            verdict.pauseNoLane()
            return verdict
        }
        #expect(judged(429, retryAfter: .seconds(5)).kind == .delayed)
        #expect(judged(429, retryAfter: .seconds(5)).retryAfter == .seconds(5))
        #expect(judged(409, retryAfter: .seconds(5)).kind == .delayed)
        #expect(judged(500, retryAfter: .seconds(5)).retryAfter == .seconds(5))
        #expect(judged(200, quotaReset: .seconds(5)) == .success)
        #expect(judged(404, quotaReset: .seconds(5)).retryAfter == nil)
    }

    @Test func `a 429 or a 503 with Retry-After pauses the lane, and quota resets are reported`() {
        func verdict(_ status: Int, retryAfter: Int? = nil, quota: Int? = nil, atMostOnce: Bool = false) -> Verdict {
            let response = HTTPResponse(
                status: status, retryAfter: retryAfter.map { .seconds($0) }, quotaReset: quota.map { .seconds($0) })
            return self.verdict(.response(response), atMostOnce: atMostOnce)
        }
        #expect(verdict(429).kind == .held)
        #expect(verdict(429).retryAfter == nil)
        #expect(verdict(429, retryAfter: 3, quota: 9).retryAfter == .seconds(3))
        #expect(verdict(429, quota: 9).retryAfter == .seconds(9))
        #expect(verdict(429, retryAfter: 0, quota: 9).retryAfter == .seconds(9))
        #expect(verdict(429, retryAfter: 0).retryAfter == .zero)
        #expect(verdict(429, atMostOnce: true).kind == .held)
        #expect(verdict(503).kind == .retryable)
        #expect(verdict(503, retryAfter: 3).kind == .held)
        #expect(verdict(503, retryAfter: 3).code == .httpStatus)
        #expect(verdict(503, retryAfter: 3, atMostOnce: true).kind == .failed)
        #expect(verdict(503, retryAfter: 3, atMostOnce: true).retryAfter == .seconds(3))
        #expect(verdict(500, retryAfter: 3, quota: 9).retryAfter == .seconds(9))
        #expect(verdict(200, quota: 9).retryAfter == .seconds(9))
        #expect(verdict(404, quota: 9).retryAfter == .seconds(9))
        #expect(verdict(404, retryAfter: 3).retryAfter == nil)
        #expect(verdict(404, retryAfter: 3).kind == .failed)
        for status in Self.laneStatuses.union(Self.jobStatuses).subtracting([429]) {
            let isForLane = Self.laneStatuses.contains(status)
            #expect(verdict(status, quota: 9).kind == (isForLane ? .held : .delayed))
            #expect(verdict(status, quota: 9).retryAfter == .seconds(9))
            #expect(verdict(status).kind == (Self.retryableStatuses.contains(status) ? .retryable : .failed))
            let once = verdict(status, retryAfter: 3, atMostOnce: true)
            #expect(once.kind == (status == 420 ? .held : .failed))
            #expect(once.retryAfter == (isForLane ? .seconds(3) : nil))
        }
    }

    @Test(arguments: [404, 429, 500])
    func `a status in ok_statuses is a success even if it is normally an error`(status: Int) {
        let ok = StatusRanges(bounds: [Int32(status), Int32(status) + 1])
        #expect(verdict(.response(HTTPResponse(status: status)), ok: ok) == .success)
        #expect(verdict(.response(HTTPResponse(status: 200)), ok: ok).kind == .failed)
    }

    @Test func `a broken content encoding is retried once`() {
        #expect(verdict(failure(.decode, sent: .maybe), attempt: 1).kind == .retryable)
        #expect(verdict(failure(.decode, sent: .maybe), attempt: 2).kind == .failed)
        #expect(verdict(failure(.reset, sent: .maybe), attempt: 2).kind == .retryable)
    }

    @Test func `a broken download uses no attempt if at least 64 KiB arrived, and succeeds when complete`() {
        func verdict(
            _ ending: CallOutcome.Ending, gained: Int64, isComplete: Bool = false, atMostOnce: Bool = false
        ) -> Verdict.Kind {
            let progress = DownloadProgress(bytesDone: 9, bytesTotal: 10, gained: gained, isComplete: isComplete)
            return Verdict(
                CallOutcome(ending, download: progress), okStatuses: .success, isAtMostOnce: atMostOnce, attempt: 1
            ).kind
        }
        #expect(verdict(failure(.truncated, sent: .maybe), gained: 65_536) == .progressed)
        #expect(verdict(failure(.truncated, sent: .maybe), gained: 65_535) == .gainedLittle)
        #expect(verdict(failure(.truncated, sent: .maybe), gained: 0) == .retryable)
        #expect(verdict(failure(.tooLarge, sent: .maybe), gained: 1) == .failed)
        #expect(verdict(failure(.truncated, sent: .maybe, status: 200), gained: 1, atMostOnce: true) == .unknown)
        #expect(verdict(.response(HTTPResponse(status: 416)), gained: 0, isComplete: true) == .succeeded)
        #expect(verdict(.response(HTTPResponse(status: 416)), gained: 0) == .failed)
    }

    @Test func `a failure can override whether its error code is retried`() {
        let full = CallFailure(.file, "the disk is full", sent: .maybe, retries: true)
        #expect(verdict(.failure(full)).kind == .retryable)
        #expect(verdict(failure(.file, sent: .no)).kind == .failed)
    }

    @Test(arguments: [false, true])
    func `a call without a free descriptor uses no attempt if nothing was sent`(isAtMostOnce: Bool) {
        func verdict(_ sent: SentState) -> Verdict.Kind {
            var lack = CallFailure(.file, "no descriptor", sent: sent, retries: true)
            lack.lacksDescriptors = true
            return self.verdict(.failure(lack), atMostOnce: isAtMostOnce).kind
        }
        #expect(verdict(.no) == .handedBack)
        #expect(verdict(.maybe) == (isAtMostOnce ? .unknown : .retryable))
    }

    @Test func `each kind of verdict has its own letter`() {
        let kinds: [Verdict.Kind] = [
            .succeeded, .failed, .retryable, .unknown, .handedBack, .progressed, .gainedLittle, .held, .delayed,
            .onward,
        ]
        #expect(kinds.map(\.letter) == ["s", "f", "r", "u", "h", "p", "l", "w", "d", "o"])
    }
}
