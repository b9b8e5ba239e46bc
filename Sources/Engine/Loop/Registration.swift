// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient

/// The worker's number in the database: it enlists, and its heartbeats keep the number.
final class Registration {
    private let shared: SharedState
    private let jobs: Session
    private let duties: DutySession
    private let stop: StopSequence
    /// A random UUID of this process. It proves to the database that an old number belonged to this process.
    private let startID = UUIDText.random()
    /// The database that gave this worker its number.
    private var home = RegisteredDatabase()
    private(set) var liveness = Liveness()
    /// The readers of claims and of preparations; nil before the first enlisting.
    private(set) var claimReader: ClaimReader?
    private(set) var prepareReader: PrepareReader?
    /// The prefixes from which the numbers of spans are made; nil before the first enlisting.
    private(set) var prefixes: KeyPrefixes?

    /// A worker without a number.
    init(_ shared: SharedState, jobs: Session, _ duties: DutySession, _ stop: StopSequence) {
        self.shared = shared
        self.jobs = jobs
        self.duties = duties
        self.stop = stop
    }

    private var now: UInt64 { shared.now }

    /// Requests a number, the first or a new one, together with the leases that are still needed.
    func enlist() {
        guard jobs.isReady, let (old, held) = shared.dispatcher.beginEnlisting() else { return }
        let introduction = StoreCalls.Introduction(
            name: shared.configuration.name, version: "\(ProductVersion.current)", queues: shared.configuration.queues,
            concurrency: shared.configuration.concurrency, environment: shared.configuration.environment, start: startID
        )
        StoreCalls.enlist(
            introduction, old: old, held: held, identity: home.identity, wal: home.wal, into: &shared.parameters)
        do throws(PGError) {
            try jobs.send(StoreStatement.enlist, &shared.parameters, tag: Tag.enlist)
            liveness.enlists(now: now)
        } catch {
            shared.dispatcher.enlistingFailed()
        }
    }

    /// Takes the number. Calls whose lease no longer holds are aborted: their jobs run elsewhere or are done.
    ///
    /// - Parameter forgetsDatabase: drops what other types remember of the former database. It is called if this is
    ///   another one.
    func enlisted(_ result: borrowing PGResult, forgetsDatabase: () -> Void) {
        let worker = result.int32(0, EnlistColumn.worker)
        liveness.enlisted()
        let prefixes = Registration.keyPrefixes(result)
        self.prefixes = prefixes
        let calls = CallReader(
            prefixes: prefixes,
            idempotencyHeader: result.text(0, EnlistColumn.idempotencyHeader),
            allowsPrivateNetwork: shared.configuration.allowsPrivateNetwork, traces: shared.configuration.traces)
        claimReader = ClaimReader(calls: calls)
        prepareReader = PrepareReader(calls: calls)
        if !result.isNull(0, EnlistColumn.lostLeases) {
            shared.log(
                .databaseRestored(
                    leases: Int(result.int32(0, EnlistColumn.lostLeases)),
                    unknownJobs: Int(result.int32(0, EnlistColumn.unknownJobs))))
        }
        let isOther = home.enlisted(in: result.uuid(0, EnlistColumn.identity))
        let results = shared.dispatcher.unwrittenCount
        shared.dispatcher.judging.timeout = result.int32(0, EnlistColumn.judgeTimeoutMs)
        let held = Set(result.int64s(0, EnlistColumn.held))
        let lost = shared.dispatcher.enlisted(worker, held: held, isOtherDatabase: isOther)
        for slot in lost { shared.agent.cancel(slot: slot) }
        if isOther {
            shared.log(.databaseChanged(calls: lost.count, results: results))
            forgetsDatabase()
        } else if !lost.isEmpty {
            shared.log(.leasesLost(jobs: lost.count))
        }
        shared.log(.enlisted(worker: worker, heldLeases: held.count))
    }

    private static func keyPrefixes(_ enlisting: borrowing PGResult) -> KeyPrefixes {
        guard !enlisting.isNull(0, EnlistColumn.keysAbove) else {
            return KeyPrefixes(installation: enlisting.uuid(0, EnlistColumn.installation))
        }
        let restores = zip(enlisting.int64s(0, EnlistColumn.keysAbove), enlisting.texts(0, EnlistColumn.keys)).map {
            (above: $0, prefix: $1)
        }
        return KeyPrefixes(installation: enlisting.uuid(0, EnlistColumn.installation), restores: restores)
    }

    /// The most jobs that a heartbeat names because their results wait. As many again may be named because their
    /// answers wait.
    private static let mostWaitingJobs = 1000

    /// Sends a heartbeat.
    func beat() {
        guard !duties.awaits(.beat) else { return }
        let refused = shared.dispatcher.backoff.waiting(shared.dispatcher.writes).map { waiting in
            (
                count: waiting.count, milliseconds: Int64((now - min(now, waiting.since)) / 1_000_000),
                jobs: shared.dispatcher.backoff.waitingJobs(
                    shared.dispatcher.writes, limit: Registration.mostWaitingJobs)
            )
        }
        StoreCalls.beat(
            worker: shared.dispatcher.worker, inFlight: shared.dispatcher.slots.inUse,
            isDraining: shared.dispatcher.isDraining,
            isListening: shared.dispatcher.claims.isListening,
            countsPeers: shared.dispatcher.claims.beatBegins(), start: startID, wal: home.wal,
            refused: refused,
            judgements: (
                shared.dispatcher.judging.count,
                shared.dispatcher.judging.oldest.map { Int64(clamping: (now - min(now, $0)) / 1_000_000) },
                shared.dispatcher.judging.jobs(limit: Registration.mostWaitingJobs)
            ), into: &shared.parameters)
        liveness.beats(now: now)
        duties.send(.beat, StoreStatement.beat)
    }

    /// Handles the answer of a heartbeat. If the database does not know the number, the worker enlists anew.
    func beatReturned(_ result: borrowing PGResult) {
        if result.bool(0, BeatColumn.isEnlisted) {
            liveness.beatConfirmed()
            home.heard(wal: result.int64(0, BeatColumn.wal))
            guard !result.isNull(0, BeatColumn.peers) else { return }
            duties.apply(
                shared.dispatcher.claims.peersCounted(
                    listeners: Int(result.int32(0, BeatColumn.listeners)),
                    peers: Int(result.int32(0, BeatColumn.peers)),
                    now: now))
        } else if !stop.isLeaving {
            enlist()
        }
    }
}
