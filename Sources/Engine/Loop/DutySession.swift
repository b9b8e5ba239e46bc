// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore
internal import PGClient

/// Sends duties on their session, and knows which of their answers are awaited.
final class DutySession {
    let session: Session
    /// The session that receives the notifications.
    private let jobs: Session
    private let shared: SharedState
    private var underWay: Set<Duty> = []
    /// Whether the jobs session receives notifications. Each new connection does.
    private var isReceiving = true
    /// When each duty is due next.
    var schedule = Schedule()
    /// When batches and chains are settled next.
    var trees = TreeCursor()

    /// Duties of a session that is not connected.
    init(_ session: Session, jobs: Session, _ shared: SharedState) {
        self.session = session
        self.jobs = jobs
        self.shared = shared
    }

    /// Whether duties can be sent.
    var isReady: Bool { session.isReady }

    /// Whether no answer is awaited.
    var isIdle: Bool { underWay.isEmpty }

    /// Whether the answer of a duty is awaited. A duty is not sent again before its answer.
    func awaits(_ duty: Duty) -> Bool { underWay.contains(duty) }

    /// Sends a duty with the shared parameters, unless its last answer is still awaited. Each change of `setIdle` is
    /// sent.
    func send(_ duty: Duty, _ statement: PGStatement) {
        guard !underWay.contains(duty) || duty == .setIdle else { return }
        do throws(PGError) {
            try session.send(statement, &shared.parameters, tag: Tag.duty(duty, worker: shared.dispatcher.worker))
            underWay.insert(duty)
        } catch {
            // A `lost` event follows. All duties are due again on the next connection.
            schedule = Schedule()
            shared.dispatcher.claims.lookAgain()
        }
    }

    /// Records that the answer of a duty has arrived.
    func answered(_ duty: Duty) { underWay.remove(duty) }

    /// Records that the connection is lost. No answer will arrive.
    func connectionLost() { underWay.removeAll() }

    /// Sets whether INSERTs notify this worker.
    func setIdle(_ isIdle: Bool) {
        // Without a number or a session the row cannot be written, so the worker polls.
        guard shared.dispatcher.worker > 0, isReady else { return shared.dispatcher.claims.listeningEnded() }
        StoreCalls.setIdle(worker: shared.dispatcher.worker, isIdle, into: &shared.parameters)
        send(.setIdle, StoreStatement.setIdle)
    }

    /// Carries out a change of the way in which the worker finds new jobs.
    func apply(_ change: PickupMode.Change) {
        switch change {
        case .none: break
        case .listen:
            receive(true)
            setIdle(true)
        case .stopListening: setIdle(false)
        case .standBy:
            setIdle(false)
            receive(false)
        case .wake: receive(true)
        }
    }

    /// Sets whether the jobs session receives notifications.
    private func receive(_ receives: Bool) {
        guard receives != isReceiving, jobs.isReady else { return }
        shared.parameters.removeAll()
        let statement = receives ? StoreStatement.listen : StoreStatement.unlisten
        // After an error a `lost` event follows.
        guard (try? jobs.send(statement, &shared.parameters, tag: Tag.listening)) != nil else { return }
        isReceiving = receives
    }

    /// Records that the jobs session is lost.
    func jobsConnectionLost() { isReceiving = true }

    /// Handles a notification about new jobs.
    func jobsAnnounced(_ announcement: Announcement = .unnamed) {
        apply(shared.dispatcher.jobsAnnounced(announcement, now: shared.now))
    }
}
