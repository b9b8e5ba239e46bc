// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient

// Users' functions run on their own session, since they may take long. So the jobs and duties sessions never wait for
// them. The worker opens the session with the first callback work.
extension RunLoop {
    /// Sends the statements that are due.
    func serveCallbacks() {
        guard callbackWork.hasWork else { return }
        guard callbacks.isOpen else { return callbacks.start(now: now) }
        guard callbacks.isReady else { return }
        if callbackWork.isStuck(now: now) { return endStuckCallbacks() }
        do throws(PGError) {
            while let (number, lease, runsHooks) = callbackWork.nextBeginning(now: now) {
                try limitTime()
                StoreCalls.begin(lease, runsHooks: runsHooks, into: &shared.parameters)
                try callbacks.append(StoreStatement.beginJob, &shared.parameters, tag: Tag.begin(number))
                callbacks.commit()
            }
            let isDeferred = callbackWork.hasFailed
            guard callbackWork.concludes(now: now) else { return }
            if isDeferred {
                StoreCalls.deferNextOutcome(after: callbackWork.failure, into: &shared.parameters)
                try callbacks.send(StoreStatement.deferNextOutcome, &shared.parameters, tag: Tag.deferral)
            }
            try limitTime()
            StoreCalls.conclude(limit: CallbackWork.limit, into: &shared.parameters)
            try callbacks.append(StoreStatement.conclude, &shared.parameters, tag: Tag.conclude)
            callbacks.commit()
        } catch {
            callbacksLost()
        }
    }

    /// Ends a session with a function that no time limit has stopped. The duties session ends it in the server too,
    /// because the function would otherwise keep its job locked.
    private func endStuckCallbacks() {
        if shared.configuration.usesSessions, duties.isReady {
            StoreCalls.session(callbacks.processID, into: &shared.parameters)
            duties.send(.endSession, StoreStatement.endSession)
        }
        callbackWork.sessionEnds()
        callbacks.abandon("a function goes on beyond its time", now: now)
    }

    private func callbacksLost() {
        for lease in callbackWork.connectionLost(now: now) {
            shared.log(
                .statementFailed(
                    verb: "begin", reason: "job \(lease.jobID) is called without its hooks, which end the session"))
        }
    }

    /// Sets the time limit in each transaction. Behind PgBouncer the next transaction may use another connection, and a
    /// function may have changed the setting.
    private func limitTime() throws(PGError) {
        shared.parameters.removeAll()
        try callbacks.append(StoreStatement.limitTime, &shared.parameters, tag: Tag.limitTime)
    }

    func callbacksEvent(_ event: consuming PGSessionEvent) {
        switch consume event {
        case .result(let tag, let result):
            if tag == Tag.conclude { return concluded(result) }
            if tag & 3 == Tag.beginKind { begun(tag >> 2, result) }
        case .failed(let tag, let error):
            schema.suspect(error)
            if tag == Tag.conclude {
                shared.log(.statementFailed(verb: "conclude", error: error))
                callbackWork.conclusionFailed(
                    error.sqlState?.rawValue, isShortage: error.sqlState?.cause == .shortage, now: now)
            } else if tag & 3 == Tag.beginKind {
                shared.log(.statementFailed(verb: "begin", error: error))
                handBack(
                    callbackWork.requeueStart(
                        tag >> 2, wasLocked: false, isShortage: error.sqlState?.cause == .shortage, now: now))
            } else {
                return
            }
            if callbackWork.shouldReplaceSession { callbacks.abandon("it refuses everything since a while", now: now) }
        case .lost: callbacksLost()
        default: break
        }
    }

    private func concluded(_ result: borrowing PGResult) {
        callbackWork.concluded(
            more: result.bool(0, ConcludeColumn.more), hasFailures: !result.isNull(0, ConcludeColumn.failure), now: now)
        if result.bool(0, ConcludeColumn.hasParents) {
            shared.dispatcher.claims.treesChanged()
            duties.trees.membersEnded(now: now)
        }
        if let reason = result.optionalText(0, ConcludeColumn.failure) {
            shared.log(.statementFailed(verb: "conclude", reason: reason))
        }
    }

    /// Calls a job whose hooks have run, unless it was cancelled meanwhile or has expired. The transaction itself
    /// reports this, because the notification of a cancellation may arrive later.
    private func begun(_ number: UInt64, _ result: borrowing PGResult) {
        // Null: the job's row is locked.
        if result.isNull(0, PGValueColumn.value) {
            return handBack(callbackWork.requeueStart(number, wasLocked: true, now: now))
        }
        guard let entry = callbackWork.begun(number, now: now),
            let job = shared.dispatcher.slots.job(in: entry.slot, entry.lease)
        else { return }
        if result.bool(0, PGValueColumn.value) { return calls.startPrepared(job, slot: entry.slot) }
        shared.dispatcher.releaseSlot(entry.slot, now: now)
        callbackWork.outcomesWait()
    }

    /// Hands a job back if the database cannot say whether it is still to be called.
    private func handBack(_ entry: Preparation.Entry?) {
        guard let entry, shared.dispatcher.slots.job(in: entry.slot, entry.lease) != nil else { return }
        let reason = "the database could not say whether the job is to be called after its hooks; no attempt was used"
        shared.dispatcher.callRefused(
            slot: entry.slot, Verdict(.handedBack, .internal, reason, retryAfter: .seconds(5)), now: now)
    }
}
