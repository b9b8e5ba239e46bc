// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore
internal import PGClient

/// Events of the jobs session: notifications, and the answers that come back to each subject. If the session is lost,
/// the worker loses its number.
final class JobsLoop {
    private let shared: SharedState
    private let session: Session
    private let exchanges: ExchangeLoop
    private let registration: Registration
    private let duties: DutySession
    private let dutyLoop: DutyLoop
    private let leader: LeaderDuties
    private let credentials: CredentialLoop
    private let silence: SilenceCheck
    private let schema: SchemaGuard
    private let stop: StopSequence
    private let once: OnceMode?

    /// A loop whose session is not open.
    init(
        _ shared: SharedState, _ session: Session, _ exchanges: ExchangeLoop, _ registration: Registration,
        _ duties: DutySession, _ dutyLoop: DutyLoop, _ leader: LeaderDuties, _ credentials: CredentialLoop,
        _ silence: SilenceCheck, _ schema: SchemaGuard, _ stop: StopSequence, _ once: OnceMode?
    ) {
        self.shared = shared
        self.session = session
        self.exchanges = exchanges
        self.registration = registration
        self.duties = duties
        self.dutyLoop = dutyLoop
        self.leader = leader
        self.credentials = credentials
        self.silence = silence
        self.schema = schema
        self.stop = stop
        self.once = once
    }

    private var now: UInt64 { shared.now }

    /// Opens the session.
    func start() { session.start(now: now) }

    /// Whether statements can be sent.
    var isReady: Bool { session.isReady }

    /// When this loop must act, nil if it need not act before an event.
    var deadline: UInt64? { earliest([session.deadline, shared.dispatcher.deadline(now: now)]) }

    /// Handles all events of the session.
    func handleEvents() {
        while let event = session.next() { handle(event) }
    }

    private func handle(_ event: consuming PGSessionEvent) {
        switch consume event {
        case .ready: registration.enlist()
        case .result(let tag, let result): succeeded(tag, result)
        case .failed(let tag, let error): failed(tag, error)
        case .lost(_, let tags):
            once?.askingFailed()
            duties.jobsConnectionLost()
            // Tags up to 3 belong to no exchange.
            shared.dispatcher.connectionLost(tags.filter { $0 > 3 }.map { $0 >> 2 }, now: now)
        case .notification(let notification): heard(notification)
        case .retryAt: break
        }
    }

    /// Handles a notification. NOTIFY arrives on the claiming session, so its backend is awake when the claim follows.
    private func heard(_ notification: PGNotification) {
        if notification.payload == "abort" {
            dutyLoop.abortsAnnounced()
        } else if notification.payload == "credentials" {
            credentials.workAnnounced()
        } else {
            let announcement = Announcement(payload: notification.payload)
            if announcement != .unnamed {
                shared.dispatcher.claims.claimGoesFirst(until: now + Schedule.queueDutiesAfterNotification)
            }
            duties.jobsAnnounced(announcement)
            // Announced jobs are ready, so they do not wait for a leader's duty.
            if announcement != .unnamed { return }
            if notification.payload == "made" { shared.dispatcher.claims.trackWasMade() }
            if notification.payload == "tracks" {
                shared.dispatcher.claims.trackIsAwaited(now: now)
                leader.trackIsAwaited()
            }
        }
        leader.notified()
    }

    private func succeeded(_ tag: UInt64, _ result: borrowing PGResult) {
        switch tag {
        case Tag.enlist: enlisted(result)
        case Tag.schema: schema.seen(result)
        case Tag.leave: stop.endRun(.clean)
        case Tag.shortLockTimeout, Tag.listening: break
        case Tag.askAfterDuties: silence.dutiesIdle(result)
        case Tag.workLeft: once?.workLeftReturned(result.optionalText(0, PGValueColumn.value), leads: leader.leads)
        default:
            switch tag & 3 {
            case 0: exchanges.finishReturned(tag >> 2, result)
            case 1: exchanges.claimReturned(tag >> 2, result)
            case 2: exchanges.preparationReturned(tag >> 2, result)
            default: exchanges.lockedLeasesReturned(tag >> 2, result)
            }
        }
    }

    private func failed(_ tag: UInt64, _ error: PGError) {
        switch tag {
        case Tag.enlist:
            shared.dispatcher.enlistingFailed()
            if schema.enlistingFailed(error) { return }
            shared.log(.statementFailed(verb: "enlist", error: error))
            session.abandon("enlisting failed", now: now)
        case Tag.schema: schema.lookFailed(error)
        case Tag.shortLockTimeout:
            // If this statement failed, the later statements of its transaction only report that an earlier statement
            // failed.
            if error.code != .aborted {
                shared.log(.statementFailed(verb: "short_lock_timeout", error: error))
                shared.dispatcher.backoff.rest(now: now)
            }
        case Tag.askAfterDuties: break
        case Tag.listening:
            // Without notifications the worker would find jobs late, so it begins anew.
            shared.log(.statementFailed(verb: "listen", error: error))
            session.abandon("listening failed", now: now)
        case Tag.workLeft:
            shared.log(.statementFailed(verb: "work_left", error: error))
            once?.askingFailed()
            schema.suspect(error)
        case Tag.leave:
            shared.log(.statementFailed(verb: "leave", error: error))
            stop.endRun(.abandoned)
        default:
            switch tag & 3 {
            case 2: exchanges.preparationFailed(tag >> 2, error)
            case 3: shared.dispatcher.writes.questionFailed(tag >> 2, now: now)
            default: exchanges.exchangeFailed(tag >> 2, error)
            }
            schema.suspect(error)
        }
    }

    /// Takes the number. The database has no memory of statements that were sent under the old one.
    private func enlisted(_ result: borrowing PGResult) {
        schema.enlisted()
        registration.enlisted(result) { dutyLoop.forgetDatabase() }
        dutyLoop.startAnew()
    }
}
