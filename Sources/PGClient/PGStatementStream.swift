// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

/// The statements and answers of a session: it sends groups in pipeline mode, and matches the answers with them.
struct PGStatementStream: ~Copyable {
    /// The next step of reading answers.
    enum Step {
        /// No answer has arrived.
        case idle
        /// A `NOTIFY` has arrived.
        case notification(PGNotification)
        /// An answer was taken. The group may have ended.
        case answered
        /// The transaction of a group, or of the set-up, has ended.
        case settled
        /// The connection has ended for this reason, and all earlier answers were taken.
        case ended(PGError)
    }

    /// The state of a statement on this connection. Until the server has confirmed it, further groups send the text. If
    /// the first group fails before its `PREPARE`, the others must not fail with it.
    private struct Prepared {
        var statement: PGStatement
        var name: String
        var isConfirmed: Bool
    }

    private let prepares: Bool
    private let openings: [String]
    var pipeline = PGPipeline()
    private var group = PGGroup()
    private var prepared: [ObjectIdentifier: Prepared] = [:]
    private var preparedCount = 0
    /// Why the connection has ended, while earlier answers are still being returned.
    private var dying: PGError?
    /// Why the `PREPARE` or the opening before a statement failed. That statement reports it.
    private var prepareError: PGError?
    private var isGroupOpen = false
    /// Whether bytes wait until the socket can be written.
    private(set) var hasOutput = false

    /// A stream without statements.
    ///
    /// - Parameters:
    ///   - prepares: whether statements are prepared once per connection.
    ///   - openings: statements at the beginning of each group.
    init(prepares: Bool, openings: [String]) {
        self.prepares = prepares
        self.openings = openings
    }

    /// Whether the connection has ended, while earlier answers may still be returned.
    var isDying: Bool { dying != nil }

    /// Whether the server owes no answer.
    var isEmpty: Bool { pipeline.isEmpty }

    // MARK: sending

    /// Sends the set-up statements as one transaction.
    mutating func setUp(_ statements: [String], _ raw: OpaquePointer) {
        for statement in statements {
            guard unsafe PQsendQueryParams(raw, statement, 0, nil, nil, nil, nil, 1) == 1 else {
                return unsafe fail("PQsendQueryParams", raw)
            }
            pipeline.append(.setUp)
        }
        unsafe sync(raw)
    }

    /// Adds a statement to the open group, or opens one.
    ///
    /// - Throws: `.notReady`. Then the statement was not sent, and the tag gets no answer.
    mutating func append(
        _ statement: PGStatement, _ parameters: inout PGParameters, tag: UInt64, _ raw: OpaquePointer
    ) throws(PGError) {
        for opening in isGroupOpen ? [] : openings {
            guard unsafe PQsendQueryParams(raw, opening, 0, nil, nil, nil, nil, 1) == 1 else {
                unsafe fail("PQsendQueryParams", raw)
                throw PGError(.notReady, operation: "PGSession.append", "the connection to the database was lost")
            }
            pipeline.append(.opening)
        }
        isGroupOpen = true
        let name = prepares ? unsafe preparedName(statement, parameters: &parameters, raw) : nil
        let isSent = unsafe parameters.withRaw { values in
            if let name {
                return unsafe PQsendQueryPrepared(
                    raw, name, values.count, values.values, values.lengths, values.formats, 1)
            }
            return unsafe PQsendQueryParams(
                raw, statement.sql, values.count, values.types, values.values, values.lengths, values.formats, 1)
        }
        // A statement that could not be sent counts as accepted. The loss of the connection reports its tag.
        pipeline.append(.statement(tag: tag, statement))
        if isSent != 1 { unsafe fail("PQsendQueryParams", raw) }
    }

    /// The name of the prepared statement; nil if the text must be sent. Prepares it at the first use.
    private mutating func preparedName(
        _ statement: PGStatement, parameters: inout PGParameters, _ raw: OpaquePointer
    ) -> String? {
        if let known = prepared[ObjectIdentifier(statement)] { return known.isConfirmed ? known.name : nil }
        // A name that this connection has not used.
        preparedCount += 1
        let name = "\(statement.name)_\(preparedCount)"
        let isSent = unsafe parameters.withRaw { values in
            unsafe PQsendPrepare(raw, name, statement.sql, values.count, values.types)
        }
        guard isSent == 1 else {
            unsafe fail("PQsendPrepare", raw)
            return nil
        }
        prepared[ObjectIdentifier(statement)] = Prepared(statement: statement, name: name, isConfirmed: false)
        pipeline.append(.prepare(statement))
        return name
    }

    /// Ends the open group and sends it. Without an open group it does nothing.
    mutating func commit(_ raw: OpaquePointer) {
        guard isGroupOpen else { return }
        isGroupOpen = false
        unsafe sync(raw)
    }

    private mutating func sync(_ raw: OpaquePointer) {
        guard unsafe PQpipelineSync(raw) == 1 else { return unsafe fail("PQpipelineSync", raw) }
        pipeline.append(.sync)
        unsafe flush(raw)
    }

    /// Writes as much as the socket accepts. C: `PQflush`.
    mutating func flush(_ raw: OpaquePointer) {
        switch unsafe PQflush(raw) {
        case 0: hasOutput = false
        case 1: hasOutput = true
        default: unsafe fail("PQflush", raw)
        }
    }

    // MARK: reading

    /// Reads the available bytes. The end of the connection is only recorded, so that earlier answers are returned
    /// first.
    mutating func consume(_ raw: OpaquePointer) {
        guard dying == nil else { return }
        guard unsafe PQconsumeInput(raw) == 1 else { return unsafe fail("PQconsumeInput", raw) }
        // Reading may have made room for a pending write.
        if hasOutput { unsafe flush(raw) }
    }

    /// Records the end of the connection. `advance` reports it after the answers that have arrived.
    mutating func fail(_ operation: String, _ raw: OpaquePointer) {
        if dying == nil { dying = unsafe PGLink.lostError(raw, operation) }
    }

    /// The next answer of a group whose transaction has ended.
    mutating func nextAnswer() -> PGSessionEvent? { group.next() }

    /// Takes the next answer that has arrived.
    ///
    /// - Parameter isSettingUp: whether the answers belong to the set-up statements.
    mutating func advance(_ raw: OpaquePointer, isSettingUp: Bool) -> Step {
        var isBetween = false
        while true {
            guard let entry = pipeline.first, unsafe PQisBusy(raw) == 0 else {
                if let arrived = unsafe PGNotification.next(from: raw) { return .notification(arrived) }
                return dying.map { .ended($0) } ?? .idle
            }
            if let result = unsafe PQgetResult(raw) {
                return unsafe take(result, for: entry, isSettingUp: isSettingUp)
            }
            // The end of the previous answer. Twice in a row it means that libpq expects no further answer, as after
            // the loss of a connection. Then the remaining answers will never come.
            if isBetween { return unsafe .ended(dying ?? PGLink.lostError(raw, "PQgetResult")) }
            isBetween = true
        }
    }

    /// Handles the answer to the oldest entry, and takes ownership.
    private mutating func take(
        _ result: OpaquePointer, for entry: PGPipeline.Entry, isSettingUp: Bool
    ) -> Step {
        let status = unsafe PQresultStatus(result)
        if case .statement(let tag, _) = entry,
            status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY
        {
            pipeline.removeFirst()
            unsafe group.append(tag: tag, result: result)
            return .answered
        }
        defer { unsafe PQclear(result) }
        switch (entry, status) {
        case (_, PGRES_FATAL_ERROR):
            return handleFailure(
                unsafe PGError.fromServer(result, operation: "PQgetResult"), entry, isSettingUp: isSettingUp)
        case (_, PGRES_PIPELINE_ABORTED):
            return handleFailure(
                PGError(.aborted, operation: "PQgetResult", "an earlier statement failed"), entry,
                isSettingUp: isSettingUp)
        case (.sync, PGRES_PIPELINE_SYNC):
            pipeline.removeFirst()
            group.settle()
            return .settled
        case (.prepare(let statement), PGRES_COMMAND_OK):
            pipeline.removeFirst()
            prepared[ObjectIdentifier(statement)]?.isConfirmed = true
        case (.setUp, PGRES_TUPLES_OK), (.setUp, PGRES_COMMAND_OK), (.opening, PGRES_TUPLES_OK),
            (.opening, PGRES_COMMAND_OK):
            pipeline.removeFirst()
        default:
            return .ended(
                PGError(.unexpected, operation: "PQgetResult", "the answers do not match the statements"))
        }
        return .answered
    }

    /// Handles a failure. If the server has ended the session with it, the connection ends.
    private mutating func handleFailure(_ error: PGError, _ entry: PGPipeline.Entry, isSettingUp: Bool) -> Step {
        guard error.code != .lost else { return .ended(error) }
        switch entry {
        case .statement(let tag, let statement):
            pipeline.removeFirst()
            if error.sqlState == .unknownStatement || error.sqlState == .featureNotSupported {
                // DEALLOCATE or a changed row type. The next use prepares the statement again, under another name.
                prepared[ObjectIdentifier(statement)] = nil
            }
            if error.code != .aborted {
                group.appendFailed(tag: tag, error)
            } else if let cause = prepareError {
                prepareError = nil
                group.appendFailed(tag: tag, cause)
            } else {
                group.appendAborted(tag: tag)
            }
        case .prepare(let statement):
            pipeline.removeFirst()
            prepared[ObjectIdentifier(statement)] = nil
            if error.code != .aborted { prepareError = error }
        case .opening:
            pipeline.removeFirst()
            if error.code != .aborted { prepareError = error }
        case .sync where !isSettingUp:
            // The commit has failed, by a deferred constraint or a serialization failure. The sync itself follows.
            group.failCommit(error)
        case .setUp, .sync:
            var error = error
            error.code = .connect
            error.operation = "set-up"
            return .ended(error)
        }
        return .answered
    }

    // MARK: the end of the connection

    /// Forgets the state of a closed connection. Returns the tags without an answer, oldest first. Answers of groups
    /// that have committed stay.
    mutating func reset() -> [UInt64] {
        dying = nil
        prepareError = nil
        isGroupOpen = false
        hasOutput = false
        prepared.removeAll(keepingCapacity: true)
        return group.removeUnsettled() + pipeline.removeAll()
    }

    /// Drops all answers that were not returned.
    mutating func removeAnswers() { group.removeAll() }
}
