// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

extension PGSession {
    /// Sends one statement in its own transaction. The answer has the tag.
    ///
    /// - Throws: `.notReady`. Then the statement was not sent, and the tag gets no answer.
    public mutating func send(
        _ statement: PGStatement, _ parameters: inout PGParameters, tag: UInt64
    ) throws(PGError) {
        try append(statement, &parameters, tag: tag)
        commit()
    }

    /// Adds a statement to the open group, or opens one. A group is one transaction, which `commit` ends.
    ///
    /// Call `commit` before returning to the loop. Before that, statements may not be sent yet.
    ///
    /// - Throws: `.notReady`. Then the statement was not sent, and the tag gets no answer.
    public mutating func append(
        _ statement: PGStatement, _ parameters: inout PGParameters, tag: UInt64
    ) throws(PGError) {
        guard isReady, let raw = unsafe raw else {
            throw PGError(.notReady, operation: "PGSession.append", "there is no connection to the database")
        }
        if pipeline.isEmpty { heardAt = now }
        for opening in isGroupOpen ? [] : openings {
            guard unsafe PQsendQueryParams(raw, opening, 0, nil, nil, nil, nil, 1) == 1 else {
                fail("PQsendQueryParams")
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
        if isSent != 1 { fail("PQsendQueryParams") }
    }

    /// Ends the open group and sends it. Without an open group it does nothing. C: `PQpipelineSync`.
    public mutating func commit() {
        guard isGroupOpen, let raw = unsafe raw else { return }
        isGroupOpen = false
        guard unsafe PQpipelineSync(raw) == 1 else { return fail("PQpipelineSync") }
        pipeline.append(.sync)
        flush()
    }

    /// The next event, nil if all events that have arrived were returned.
    ///
    /// Statements may be sent between two calls.
    public mutating func next() -> PGSessionEvent? {
        var isBetween = false
        while true {
            if let answer = group.next() { return answer }
            if let notice = takeNotice() { return notice }
            guard let raw = unsafe raw, isEstablished else { return nil }
            guard let entry = pipeline.first, unsafe PQisBusy(raw) == 0 else {
                if let arrived = unsafe PGNotification.next(from: raw) { return .notification(arrived) }
                guard let error = dying else { return nil }
                end(error)
                continue
            }
            guard let result = unsafe PQgetResult(raw) else {
                // The end of the previous answer. Twice in a row it means that libpq expects no further answer, as
                // after the loss of a connection. Then the remaining answers will never come.
                if isBetween { unsafe end(dying ?? PGLink.lostError(raw, "PQgetResult")) }
                isBetween.toggle()
                continue
            }
            isBetween = false
            unsafe take(result, for: entry)
        }
    }

    /// Whether the connection is in pipeline mode.
    private var isEstablished: Bool {
        switch machine.state {
        case .settingUp, .ready: true
        case .stopped, .connecting, .backingOff, .closed: false
        }
    }

    private var isSettingUp: Bool {
        if case .settingUp = machine.state { true } else { false }
    }

    private mutating func takeNotice() -> PGSessionEvent? {
        guard !notices.isEmpty else { return nil }
        switch notices.removeFirst() {
        case .ready: return .ready
        case .lost(let error, let tags): return .lost(error, unanswered: tags)
        case .retryAt(let moment): return .retryAt(moment)
        }
    }

    /// Handles the answer to the oldest entry, and takes ownership.
    private mutating func take(_ result: OpaquePointer, for entry: PGPipeline.Entry) {
        let status = unsafe PQresultStatus(result)
        if case .statement(let tag, _) = entry,
            status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY
        {
            pipeline.removeFirst()
            return unsafe group.append(tag: tag, result: result)
        }
        defer { unsafe PQclear(result) }
        switch (entry, status) {
        case (_, PGRES_FATAL_ERROR):
            handleFailure(unsafe PGError.fromServer(result, operation: "PQgetResult"), entry)
        case (_, PGRES_PIPELINE_ABORTED):
            handleFailure(PGError(.aborted, operation: "PQgetResult", "an earlier statement failed"), entry)
        case (.sync, PGRES_PIPELINE_SYNC):
            pipeline.removeFirst()
            group.settle()
            perform(machine.setUpDone(now: now))
        case (.prepare(let statement), PGRES_COMMAND_OK):
            pipeline.removeFirst()
            prepared[ObjectIdentifier(statement)]?.isConfirmed = true
        case (.setUp, PGRES_TUPLES_OK), (.setUp, PGRES_COMMAND_OK), (.opening, PGRES_TUPLES_OK),
            (.opening, PGRES_COMMAND_OK):
            pipeline.removeFirst()
        default:
            end(PGError(.unexpected, operation: "PQgetResult", "the answers do not match the statements"))
        }
    }

    /// Handles a failure. If the server has ended the session with it, the connection ends.
    private mutating func handleFailure(_ error: PGError, _ entry: PGPipeline.Entry) {
        guard error.code != .lost else { return end(error) }
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
            end(error)
        }
    }

    /// The name of the prepared statement; nil if the text must be sent. Prepares it at the first use.
    private mutating func preparedName(
        _ statement: PGStatement, parameters: inout PGParameters, _ raw: OpaquePointer
    ) -> String? {
        if let known = prepared[ObjectIdentifier(statement)] { return known.isConfirmed ? known.name : nil }
        let name = freshName(statement)
        let isSent = unsafe parameters.withRaw { values in
            unsafe PQsendPrepare(raw, name, statement.sql, values.count, values.types)
        }
        guard isSent == 1 else {
            fail("PQsendPrepare")
            return nil
        }
        prepared[ObjectIdentifier(statement)] = Prepared(statement: statement, name: name, isConfirmed: false)
        pipeline.append(.prepare(statement))
        return name
    }

    /// Reads the available bytes. The end of the connection is only recorded, so that earlier answers are returned
    /// first.
    mutating func consume() {
        guard let raw = unsafe raw, dying == nil else { return }
        guard unsafe PQconsumeInput(raw) == 1 else { return fail("PQconsumeInput") }
        // Reading may have made room for a pending write.
        if flushPending { flush() }
    }

    /// Writes as much as the socket accepts. C: `PQflush`.
    mutating func flush() {
        guard let raw = unsafe raw else { return }
        switch unsafe PQflush(raw) {
        case 0: flushPending = false
        case 1: flushPending = true
        default: fail("PQflush")
        }
    }

    /// Records the end of the connection. `next` reports it after the answers that have arrived.
    mutating func fail(_ operation: String) {
        guard dying == nil, let raw = unsafe raw else { return }
        dying = unsafe PGLink.lostError(raw, operation)
    }
}
