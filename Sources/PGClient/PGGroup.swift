// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

/// The answers to one group. They are kept until its transaction has ended.
///
/// The server sends a large result before it commits. If the owner called a claimed job then, a crash or a deferred
/// constraint could still undo the claim.
@safe struct PGGroup: ~Copyable {
    @safe private struct Answer {
        var tag: UInt64
        /// The result; nil for a statement that failed or did not run.
        var result: OpaquePointer?
    }

    private var answers: [Answer] = []
    private var head = 0
    private var isSettled = false
    /// The statement that failed first, and its error.
    private var failure: (tag: UInt64, error: PGError)?

    deinit {
        for answer in answers[head...] { unsafe PQclear(answer.result) }
    }

    /// Adds a result and takes ownership.
    mutating func append(tag: UInt64, result: OpaquePointer) {
        unsafe answers.append(Answer(tag: tag, result: result))
    }

    /// Adds a statement that did not run because the group had failed.
    mutating func appendAborted(tag: UInt64) {
        unsafe answers.append(Answer(tag: tag, result: nil))
    }

    /// Adds a statement that failed, and the group with it.
    mutating func appendFailed(tag: UInt64, _ error: PGError) {
        unsafe answers.append(Answer(tag: tag, result: nil))
        if failure == nil { failure = (tag, error) }
    }

    /// Records that the commit failed. The error is reported for the last statement.
    mutating func failCommit(_ error: PGError) {
        guard failure == nil, let last = answers.last else { return }
        failure = (last.tag, error)
    }

    /// Records that the transaction has ended, so that the answers can be returned.
    mutating func settle() {
        isSettled = !answers.isEmpty
    }

    /// The next answer of a settled group. A failed group has no results, not even of statements before the failure.
    mutating func next() -> PGSessionEvent? {
        guard isSettled else { return nil }
        let answer = answers[head]
        unsafe answers[head].result = nil
        head += 1
        let cause = failure
        if head == answers.count { clear() }
        guard let cause else {
            guard let result = unsafe answer.result else { return nil }
            return unsafe .result(tag: answer.tag, PGResult(owning: result))
        }
        unsafe PQclear(answer.result)
        if cause.tag == answer.tag { return .failed(tag: answer.tag, cause.error) }
        return .failed(
            tag: answer.tag, PGError(.aborted, operation: "PQgetResult", "another statement of the group failed"))
    }

    /// Removes and returns the tags of a group whose transaction has not ended.
    mutating func removeUnsettled() -> [UInt64] {
        guard !isSettled else { return [] }
        defer { removeAll() }
        return answers.map(\.tag)
    }

    mutating func removeAll() {
        for answer in answers[head...] { unsafe PQclear(answer.result) }
        clear()
    }

    private mutating func clear() {
        answers.removeAll(keepingCapacity: true)
        head = 0
        isSettled = false
        failure = nil
    }
}
