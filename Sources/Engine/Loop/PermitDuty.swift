// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore
internal import PGClient

/// Acquires permits and rate slots of lanes with limits. It is a duty.
final class PermitDuty {
    private let shared: SharedState
    private let duties: DutySession
    private let jobs: Session
    private let registration: Registration
    private var databaseClock = DatabaseClock()
    /// When the last request was sent.
    private var requestSent: UInt64 = 0

    /// A duty that has requested nothing.
    init(_ shared: SharedState, _ duties: DutySession, jobs: Session, _ registration: Registration) {
        self.shared = shared
        self.duties = duties
        self.jobs = jobs
        self.registration = registration
    }

    private var now: UInt64 { shared.now }

    /// Drops the memory of the former database, whose clock differs.
    func forgetDatabase() { databaseClock = DatabaseClock() }

    /// When the next lane action is due.
    var deadline: UInt64? {
        guard shared.dispatcher.claims.hasLanes else { return nil }
        let due = shared.dispatcher.laneDeadline(
            canRequest: duties.isReady && !duties.awaits(.acquireLanePermits), canClaim: jobs.isReady,
            now: now)
        // Once the end has passed, each turn of the loop checks it, and as a deadline it would keep the loop awake.
        guard let end = registration.liveness.end, now < end, shared.dispatcher.claims.usesLanes else { return due }
        return min(due ?? .max, end)
    }

    /// Requests permits and rate slots.
    func send(_ worker: Int32) {
        guard !duties.awaits(.acquireLanePermits) else { return }
        let requests = shared.dispatcher.nextLaneRequests(now: now)
        guard !requests.isEmpty else { return }
        StoreCalls.acquireLanePermits(worker: worker, requests, into: &shared.parameters)
        requestSent = now
        duties.send(.acquireLanePermits, StoreStatement.acquireLanePermits)
        if !duties.awaits(.acquireLanePermits) { shared.dispatcher.claims.laneRequestFailed() }
    }

    /// Records the granted permits and rate slots.
    func granted(_ result: borrowing PGResult) {
        if result.rowCount > 0 {
            databaseClock.note(sent: requestSent, received: now, microseconds: StoreCalls.grantedAt(result))
        }
        let grants = StoreCalls.grants(result, clock: databaseClock)
        shared.dispatcher.claims.lanesGranted(grants, now: now)
    }
}
