// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// The order of events in one dispatcher. Tests/Simulation runs whole fleets.
struct DispatcherTests: DispatcherCases {
    @Test func `a worker without a number sends no exchange`() {
        var dispatcher = Dispatcher(capacity: 4, canListen: true)
        dispatcher.claims.surveyReturned([.init(track: 1, priority: 0, firstSeq: 1)], now: moment)
        let isSent = dispatcher.nextExchange(now: moment) != nil
        #expect(!isSent)
    }

    @Test func `a claim in flight reserves the slots that it may fill`() {
        var dispatcher = dispatcher()
        let first = dispatcher.nextExchange(now: moment)
        #expect(first?.exchange.claim?.limit == 4)
        let second = dispatcher.nextExchange(now: moment)
        #expect(second == nil)
        dispatcher.takeBack(first?.number ?? 0, now: moment)
        let reserved = dispatcher.exchanges.reserved
        #expect(reserved == 0)
        #expect(claim(&dispatcher, [job(1), job(2)]).count == 2)
    }

    @Test func `a worker with an unanswered heartbeat writes results but claims and surveys nothing`() {
        var dispatcher = dispatcher()
        let slots = claim(&dispatcher, [job(1)])
        dispatcher.isUnheard = true
        let look = dispatcher.nextLook(canSurvey: true)
        dispatcher.callEnded(slot: slots[0], CallOutcome(.response(HTTPResponse(status: 200))), now: moment)
        let exchange = dispatcher.nextExchange(now: moment)?.exchange
        #expect(look == nil && exchange?.batch != nil && exchange?.claim == nil)
    }

    @Test func `one exchange contains ended attempts and a claim for free slots`() {
        var dispatcher = dispatcher()
        let slots = claim(&dispatcher, (1...4).map { job($0) })
        dispatcher.callEnded(slot: slots[0], CallOutcome(.response(HTTPResponse(status: 200))), now: moment)
        let next = dispatcher.nextExchange(now: moment)
        #expect(next?.exchange.batch?.attempts.map(\.verdict) == [.success])
        #expect(next?.exchange.claim?.limit == 1)
        #expect(next?.exchange.claim?.above == 7)
    }

    @Test func `an exchange that was taken back is sent again with newly ended attempts`() {
        var dispatcher = dispatcher()
        let slots = claim(&dispatcher, (1...4).map { job($0) })
        let outcome = CallOutcome(.response(HTTPResponse(status: 200)))
        dispatcher.callEnded(slot: slots[0], outcome, now: moment)
        let number = dispatcher.nextExchange(now: moment)?.number ?? 0
        dispatcher.callEnded(slot: slots[1], outcome, now: moment)
        dispatcher.takeBack(number, now: moment)
        #expect(dispatcher.nextExchange(now: moment)?.exchange.batch?.attempts.map(\.lease.seq) == [1, 2])
    }

    /// A refused claim behind an aborted finish must not be overlooked:
    /// - 1. A finish and a claim are sent together.
    /// - 2. The leader has declared the worker lost, and the database refuses the claim.
    /// - 3. The session first reports the finish as aborted.
    /// - 4. It then reports the claim.
    @Test func `a worker enlists again if its claim is refused behind an aborted finish`() {
        var dispatcher = dispatcher()
        let slots = claim(&dispatcher, (1...4).map { job($0) })
        dispatcher.callEnded(slot: slots[0], CallOutcome(.response(HTTPResponse(status: 200))), now: moment)
        let number = dispatcher.nextExchange(now: moment)?.number ?? 0
        #expect(dispatcher.exchangeFailed(number, .aborted, now: moment) == .none)
        #expect(dispatcher.exchangeFailed(number, .workerLost, now: moment) == .enlist)
        #expect(dispatcher.writes.finished.count == 1)
    }

    @Test func `a worker rests for 250 ms after a failed exchange`() {
        var dispatcher = dispatcher()
        let number = dispatcher.nextExchange(now: moment)?.number ?? 0
        #expect(dispatcher.exchangeFailed(number, .failure, now: moment) == .report)
        let early = dispatcher.nextExchange(now: moment + 249_999_999) != nil
        #expect(!early)
        #expect(dispatcher.deadline(now: moment) == moment + 250_000_000)
        let later = dispatcher.nextExchange(now: moment + 250_000_000) != nil
        #expect(later)
    }

    @Test(arguments: 0..<9) func `the only unstorable attempt of a batch is found and fails alone`(bad: Int) {
        var dispatcher = dispatcher(capacity: 9)
        let slots = claim(&dispatcher, (1...9).map { job($0) })
        dispatcher.drain()
        for slot in slots {
            dispatcher.callEnded(slot: slot, CallOutcome(.response(HTTPResponse(status: 200))), now: moment)
        }
        var stored: [Int64: Verdict.Kind] = [:]
        var told: [ExchangeRecovery] = []
        var now = moment
        for _ in 0..<40 {
            now = dispatcher.deadline(now: now) ?? now
            guard let (number, exchange) = dispatcher.nextExchange(now: now), let batch = exchange.batch
            else { break }
            if batch.attempts.contains(where: { $0.lease.seq == Int64(bad + 1) && !$0.isReduced }) {
                told.append(dispatcher.exchangeFailed(number, .unstorable, now: now))
            } else {
                for attempt in batch.attempts { stored[attempt.lease.seq] = attempt.verdict.kind }
                _ = dispatcher.finishReturned(number, stored: batch.attempts.count)
            }
        }
        #expect(stored.count == 9)
        #expect(stored.filter { $0.value == .failed }.map(\.key) == [Int64(bad + 1)])
        #expect(told.last == .reportJob(Int64(bad + 1)))
        #expect(dispatcher.isWritten == true)
    }

    /// The worker enlists after this claim, which makes the claimed rows ready again. A call for them would be a second
    /// call.
    @Test func `a worker does not call jobs that were claimed for its old number`() {
        var dispatcher = dispatcher()
        let number = dispatcher.nextExchange(now: moment)?.number ?? 0
        _ = dispatcher.beginEnlisting()
        let arrives = dispatcher.claimReturned(number) != nil
        #expect(!arrives)
        #expect(dispatcher.isQuiet == true)
        #expect(dispatcher.isWritten == true)
    }

    @Test func `a worker with a new number keeps running calls and drops calls without a lease`() {
        var dispatcher = dispatcher()
        let slots = claim(&dispatcher, (1...4).map { job($0) })
        dispatcher.callEnded(slot: slots[3], CallOutcome(.response(HTTPResponse(status: 200))), now: moment)
        dispatcher.connectionLost([], now: moment)
        let asked = dispatcher.beginEnlisting()
        #expect(asked?.old == 1)
        #expect(asked?.held.map(\.seq).sorted() == [1, 2, 3, 4])
        let twice = dispatcher.beginEnlisting() != nil
        #expect(!twice)
        #expect(Set(dispatcher.enlisted(2, held: [1])) == Set(slots[1...2]))
        #expect(dispatcher.slots.inUse == 1)
        #expect(dispatcher.writes.finished.isEmpty == true)
        #expect(dispatcher.worker == 2)
    }

    /// A refused finish behind another refused finish:
    /// - 1. Two finishes are in flight.
    /// - 2. The first is refused, and the worker asks for a new number.
    /// - 3. The second is refused too.
    ///
    /// The leases that the new number takes over must include its attempt. Otherwise its job becomes ready and is
    /// called again.
    @Test func `a worker that enlists again keeps the leases of attempts whose finish is in flight`() {
        var dispatcher = dispatcher(capacity: 64)
        let slots = claim(&dispatcher, (1...64).map { job($0) })
        let outcome = CallOutcome(.response(HTTPResponse(status: 200)))
        dispatcher.callEnded(slot: slots[0], outcome, now: moment)
        let first = dispatcher.nextExchange(now: moment)?.number ?? 0
        dispatcher.callEnded(slot: slots[1], outcome, now: moment)
        let second = dispatcher.nextExchange(now: moment + ExchangePolicy.patience)?.number ?? 0
        #expect(dispatcher.exchangeFailed(first, .workerLost, now: moment) == .enlist)
        let held = Set(dispatcher.beginEnlisting()?.held.map(\.seq) ?? [])
        #expect(held == Set(1...64))
        #expect(dispatcher.exchangeFailed(second, .workerLost, now: moment) == .enlist)
        _ = dispatcher.enlisted(2, held: held)
        #expect(dispatcher.writes.finished.map(\.lease.seq).sorted() == [1, 2])
    }

    @Test func `an attempt that continues at another server causes a survey`() {
        var dispatcher = dispatcher()
        var wanted = job(1)
        wanted.server = ServerChoice(id: 3, hasNext: true)
        let slots = claim(&dispatcher, [wanted])
        _ = dispatcher.surveyBegins(now: moment)
        dispatcher.claims.surveyReturned([], now: moment)
        #expect(!dispatcher.claims.schedule.wantsSurvey)
        dispatcher.callEnded(slot: slots[0], CallOutcome(.response(HTTPResponse(status: 503))), now: moment)
        let next = dispatcher.nextExchange(now: moment)
        let attempt = next?.exchange.batch?.attempts.first
        #expect(attempt?.verdict.kind == .onward)
        #expect(attempt?.server?.id == 3)
        _ = dispatcher.finishReturned(next?.number ?? 0, stored: 1)
        #expect(dispatcher.claims.schedule.wantsSurvey)
    }

    @Test func `after a drain only at-most-once jobs that may have been sent end as unknown`() {
        var dispatcher = dispatcher()
        let jobs = [job(1), job(2), job(3, isAtMostOnce: true), job(4, isAtMostOnce: true)]
        let slots = claim(&dispatcher, jobs)
        dispatcher.drain()
        for (slot, sent) in zip(slots, [SentState.no, .maybe, .no, .maybe]) {
            dispatcher.callCutOff(slot: slot, sent: sent, now: moment)
        }
        let batch = dispatcher.nextExchange(now: moment)?.exchange.batch
        #expect(batch?.attempts.map(\.verdict.kind) == [.handedBack, .handedBack, .handedBack, .unknown])
    }

    @Test func `a job whose call found no descriptor is handed back without a result`() {
        var dispatcher = dispatcher()
        var lack = CallFailure(.connect, "no descriptor", sent: .no)
        lack.lacksDescriptors = true
        var wanted = job(1)
        wanted.server = ServerChoice(id: 3, hasNext: true)
        for slot in claim(&dispatcher, [wanted]) {
            dispatcher.callEnded(slot: slot, CallOutcome(.failure(lack)), now: moment)
        }
        let attempt = dispatcher.nextExchange(now: moment)?.exchange.batch?.attempts.first
        #expect(attempt?.verdict.kind == .handedBack && attempt?.outcome == nil && attempt?.server == nil)
        #expect(attempt?.isJudged == false)
    }

    @Test func `a draining worker neither claims jobs nor surveys tracks`() {
        var dispatcher = dispatcher()
        dispatcher.drain()
        let claims = dispatcher.nextExchange(now: moment) != nil
        #expect(!claims)
        #expect(dispatcher.surveyBegins(now: moment * 2) == false)
        #expect(dispatcher.nextLook(canSurvey: true) == nil)
    }

    @Test func `a worker without free slots neither polls nor surveys`() {
        var dispatcher = dispatcher()
        #expect(claim(&dispatcher, (1...4).map { job($0) }).count == 4)
        #expect(dispatcher.nextLook(canSurvey: true) == nil)
        #expect(dispatcher.surveyBegins(now: moment * 2) == false)
    }

    @Test func `a worker with two exchanges in flight has no deadline`() {
        var dispatcher = dispatcher(capacity: 64)
        let slots = claim(&dispatcher, (1...64).map { job($0) })
        let outcome = CallOutcome(.response(HTTPResponse(status: 200)))
        for slot in slots[0..<20] { dispatcher.callEnded(slot: slot, outcome, now: moment) }
        let first = dispatcher.nextExchange(now: moment) != nil
        dispatcher.callEnded(slot: slots[20], outcome, now: moment)
        #expect(dispatcher.deadline(now: moment) == moment + ExchangePolicy.patience)
        let second = dispatcher.nextExchange(now: moment + ExchangePolicy.patience) != nil
        dispatcher.callEnded(slot: slots[21], outcome, now: moment)
        #expect(first && second)
        #expect(dispatcher.deadline(now: moment) == nil)
    }

    @Test func `after an empty claim, a worker claims again at its next poll and not before`() {
        var dispatcher = dispatcher()
        #expect(claim(&dispatcher, []).isEmpty)
        let look = dispatcher.nextLook(canSurvey: false) ?? 0
        #expect(look == moment + 2_000_000)
        #expect(dispatcher.poll(now: look - 1) == .none)
        let early = dispatcher.nextExchange(now: look - 1) != nil
        #expect(dispatcher.poll(now: look) == .none)
        let due = dispatcher.nextExchange(now: look) != nil
        #expect((early, due) == (false, true))
    }

    @Test func `a worker on a queue without tracks starts to listen after 25 polls`() {
        var dispatcher = Dispatcher.enlisted(capacity: 4)
        var now = moment
        var changes: [PickupMode.Change] = []
        for _ in 0..<25 {
            changes.append(dispatcher.poll(now: now))
            now = dispatcher.nextLook(canSurvey: false) ?? .max
        }
        #expect(changes.last == .listen)
        #expect(changes.dropLast().allSatisfy { $0 == .none })
        #expect(now - moment < 300_000_000)
    }

    @Test func `a notification during an empty claim makes the worker claim again`() {
        var dispatcher = dispatcher()
        let number = dispatcher.nextExchange(now: moment)?.number ?? 0
        _ = dispatcher.jobsAnnounced(now: moment)
        guard let arrival = dispatcher.claimReturned(number) else {
            Issue.record("no claim")
            return
        }
        _ = dispatcher.claimRead(arrival, now: moment)
        let again = dispatcher.nextExchange(now: moment) != nil
        #expect(again)
    }
}
