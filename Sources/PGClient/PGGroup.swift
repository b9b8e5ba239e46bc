// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

/// The answers to one group, kept back until its transaction has ended one way or the other.
///
/// The server sends a large result before it commits; whoever acted on it then, say by calling the claimed job,
/// would have acted on a claim that a crash or a deferred constraint undoes.
@safe struct PGGroup: ~Copyable {
    @safe private struct Answer {
        var tag: UInt64
        /// `nil` for a statement that has failed or was not run.
        var result: OpaquePointer?
    }

    private var answers: [Answer] = []
    private var head = 0
    private var isSettled = false
    /// The statement that is to blame, and why.
    private var failure: (tag: UInt64, error: PGError)?

    deinit {
        for answer in answers[head...] { unsafe PQclear(answer.result) }
    }

    /// Takes a result over.
    mutating func append(tag: UInt64, result: OpaquePointer) {
        unsafe answers.append(Answer(tag: tag, result: result))
    }

    /// A statement that was not run because the group had failed.
    mutating func appendAborted(tag: UInt64) {
        unsafe answers.append(Answer(tag: tag, result: nil))
    }

    /// A statement that failed, and with it the group.
    mutating func appendFailed(tag: UInt64, _ error: PGError) {
        unsafe answers.append(Answer(tag: tag, result: nil))
        if failure == nil { failure = (tag, error) }
    }

    /// The commit itself has failed: the last statement stands for it.
    mutating func failCommit(_ error: PGError) {
        guard failure == nil, let last = answers.last else { return }
        failure = (last.tag, error)
    }

    /// The transaction has ended: the answers can be handed out.
    mutating func settle() {
        isSettled = !answers.isEmpty
    }

    /// The next answer of a settled group. A failed group has no results, even of statements before the failure.
    mutating func next() -> PGSessionEvent? {
        guard isSettled else { return nil }
        let answer = answers[head]
        unsafe answers[head].result = nil
        head += 1
        let blame = failure
        if head == answers.count { clear() }
        guard let blame else {
            guard let result = unsafe answer.result else { return nil }
            return unsafe .result(tag: answer.tag, PGResult(owning: result))
        }
        unsafe PQclear(answer.result)
        if blame.tag == answer.tag { return .failed(tag: answer.tag, blame.error) }
        return .failed(
            tag: answer.tag, PGError(.aborted, operation: "PQgetResult", "another statement of the group failed"))
    }

    /// The tags of a group whose transaction has not ended; empties it.
    mutating func removeUnsettled() -> [UInt64] {
        guard !isSettled else { return [] }
        defer { removeAll() }
        return answers.map(\.tag)
    }

    /// Empties it.
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
