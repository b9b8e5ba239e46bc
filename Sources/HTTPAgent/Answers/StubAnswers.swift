// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// The answers of stubs that are due later. Stubs replace calls: no name is looked up, nothing is connected or sent.
struct StubAnswers {
    private struct Pending {
        /// When the call began and when it ends, in monotonic nanoseconds.
        var began: Int64, due: Int64
        var ending: CallOutcome.Ending
    }

    private var pending: [Int: Pending] = [:]
    /// When the first of the answers is due, in monotonic nanoseconds; `.max` without any.
    private(set) var dueAt = Int64.max

    /// How many calls wait for their answers.
    var count: Int { pending.count }

    /// Answers a call after the delay of its stub, or ends it at its timeout.
    mutating func add(_ stub: StubAnswer, for call: HTTPCall, slot: Int) {
        precondition(pending[slot] == nil, "slot \(slot) is in use")
        let now = ccurl_now()
        var delay = stub.delay
        var ending = CallOutcome.Ending.response(StubAnswers.response(stub, to: call))
        if delay > call.limits.total {
            delay = call.limits.total
            let seconds = Double(delay / .milliseconds(1)) / 1000
            ending = .failure(
                CallFailure(.timeout, "the stub did not answer within the timeout of \(seconds) s", sent: .maybe))
        } else if stub.body.count > call.limits.maxResponseBytes {
            let limit = call.limits.maxResponseBytes
            ending = .failure(
                CallFailure(
                    .tooLarge, "the body of the stub has more than \(limit) bytes, the limit of max_response",
                    sent: .maybe, status: stub.status))
        }
        let due = now + Int64(delay / .nanoseconds(1))
        pending[slot] = Pending(began: now, due: due, ending: ending)
        dueAt = min(dueAt, due)
    }

    /// The calls whose answers are due. They wait no longer.
    mutating func takeDue(now: Int64) -> [FinishedCall] {
        var ended: [FinishedCall] = []
        for (slot, stub) in pending where stub.due <= now {
            var timings = CallTimings()
            timings.total = (now - stub.began) / 1000
            timings.firstByte = timings.total
            ended.append(FinishedCall(slot: slot, outcome: CallOutcome(stub.ending, timings: timings)))
        }
        for call in ended { pending[call.slot] = nil }
        dueAt = pending.values.map(\.due).min() ?? .max
        return ended
    }

    /// Drops the answer for a slot. False if it has none.
    mutating func remove(_ slot: Int) -> Bool {
        guard !pending.isEmpty, pending.removeValue(forKey: slot) != nil else { return false }
        dueAt = pending.values.map(\.due).min() ?? .max
        return true
    }

    private static func response(_ stub: StubAnswer, to call: HTTPCall) -> HTTPResponse {
        let block = stub.headerBlock
        let isBodyless = call.method == .head || [204, 205, 304].contains(stub.status)
        var response = HTTPResponse(status: stub.status, headerBlock: block, body: isBodyless ? [] : stub.body)
        let now = AnswerHeaders(block: block).clock(now: ccurl_wall_seconds())
        let wait = RequestedWait(block, status: stub.status, now: now)
        response.retryAfter = wait.retryAfter
        response.quotaReset = wait.quotaReset
        response.unreadableWait = wait.unreadable
        return response
    }
}
