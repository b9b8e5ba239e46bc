// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

/// Appends the parameters of each statement to a block that the caller reuses.
public enum StoreCalls {
    /// The registration data of a worker.
    public struct Introduction: Sendable {
        /// Host and process, for operators.
        public var name: String
        /// The version of the program.
        public var version: String
        /// The queues; empty: all.
        public var queues: [String]
        /// The most calls in flight.
        public var concurrency: Int
        /// The environment whose servers it uses.
        public var environment: String
        /// A random UUID of this process.
        public var start: String

        /// Registration data.
        public init(
            name: String, version: String, queues: [String], concurrency: Int, environment: String = "release",
            start: String
        ) {
            self.name = name
            self.version = version
            self.queues = queues
            self.concurrency = concurrency
            self.environment = environment
            self.start = start
        }
    }

    /// `enlist`. `old` is 0 for the first enlisting. `held` are the leases to keep.
    ///
    /// - Parameters:
    ///   - identity: the identity of the database that gave the old number; nil for the first enlisting.
    ///   - wal: where the WAL of that database ended on disk.
    public static func enlist(
        _ introduction: Introduction, old: Int32, held: [Lease], identity: String?, wal: Int64,
        into parameters: inout PGParameters
    ) {
        var tracks = PGArrayBuilder<Int32>()
        var seqs = PGArrayBuilder<Int64>()
        for lease in held {
            tracks.append(lease.track)
            seqs.append(lease.seq)
        }
        parameters.removeAll()
        parameters.append(int32: old)
        parameters.append(text: introduction.name)
        parameters.append(text: introduction.version)
        queues(introduction.queues, into: &parameters)
        parameters.append(int32: Int32(clamping: introduction.concurrency))
        parameters.append(array: tracks)
        parameters.append(array: seqs)
        parameters.append(text: introduction.environment)
        parameters.append(int64s: held.map(\.fence))
        parameters.append(inferred: introduction.start)
        parameters.append(inferred: identity)
        parameters.append(int64: wal)
    }

    /// `claim`: at most `limit` jobs of the visited tracks.
    ///
    /// - Parameters:
    ///   - hasNoFinish: whether the transaction contains no finish, so that its commit need not wait for the disk.
    ///   - takesLeasesOnly: whether all jobs come without their calls.
    public static func claim(
        worker: Int32, above fence: Int64, limit: Int, visits: [KnownTracks.Visit], hasNoFinish: Bool,
        takesLeasesOnly: Bool, into parameters: inout PGParameters
    ) {
        var tracks = PGArrayBuilder<Int32>()
        var caps = PGArrayBuilder<Int32>()
        var marks = PGArrayBuilder<Int64>()
        var lanes = PGArrayBuilder<Int32>()
        for visit in visits {
            tracks.append(visit.track)
            caps.append(visit.cap)
            marks.append(visit.mark)
            lanes.append(visit.lane)
        }
        parameters.removeAll()
        parameters.append(int32: worker)
        parameters.append(int64: fence)
        parameters.append(int32: Int32(clamping: limit))
        parameters.append(array: tracks)
        parameters.append(array: caps)
        parameters.append(array: marks)
        parameters.append(bool: hasNoFinish)
        parameters.append(array: lanes)
        parameters.append(bool: takesLeasesOnly)
    }

    /// `claimOne`: one job, if it is the first ready job of its track and needs no preparation.
    public static func claimOne(
        _ job: Int64, worker: Int32, in visit: KnownTracks.Visit, above fence: Int64,
        into parameters: inout PGParameters
    ) {
        parameters.removeAll()
        parameters.append(int32: worker)
        parameters.append(int32: visit.track)
        parameters.append(int64: visit.mark)
        parameters.append(int64: fence)
        parameters.append(int64: job)
    }

    /// `locked_leases`.
    public static func lockedLeases(worker: Int32, _ leases: [Lease], into parameters: inout PGParameters) {
        parameters.removeAll()
        parameters.append(int32: worker)
        var tracks = PGArrayBuilder<Int32>()
        for lease in leases { tracks.append(lease.track) }
        parameters.append(array: tracks)
        parameters.append(int64s: leases.map(\.seq))
        parameters.append(int64s: leases.map(\.fence))
    }

    /// `prepare`: the calls of claimed jobs.
    ///
    /// - Parameters:
    ///   - appVersion: the application version in the cache metadata.
    ///   - hold: milliseconds that jobs with expensive answers wait; nil: there is room for their answers.
    ///   - long: jobs whose bodies come in slices.
    ///   - stubsOnly: whether jobs without a stub fail.
    public static func prepare(
        worker: Int32, appVersion: String?, leases: [Lease], hold: Int32? = nil, long: [Int64] = [],
        stubsOnly: Bool = false, tracesAll: Bool = false, into parameters: inout PGParameters
    ) {
        var tracks = PGArrayBuilder<Int32>()
        for lease in leases { tracks.append(lease.track) }
        parameters.removeAll()
        parameters.append(int32: worker)
        parameters.append(text: appVersion)
        parameters.append(array: tracks)
        for ids in [leases.map(\.seq), leases.map(\.fence), leases.map(\.jobID)] { parameters.append(int64s: ids) }
        parameters.append(int32: hold)
        parameters.append(int64s: long)
        for flag in [stubsOnly, tracesAll] { parameters.append(bool: flag) }
    }

    /// `settle`: changes with an id above `after`.
    ///
    /// - Parameter look: with `endsOrphans`, it also ends jobs that were left below ended batches and chains. With
    ///   `oneTree`, it settles only one batch or chain.
    public static func settle(
        _ look: (after: Int64, endsOrphans: Bool, oneTree: Bool), into parameters: inout PGParameters
    ) {
        parameters.removeAll()
        parameters.append(int64: look.after)
        parameters.append(bool: look.endsOrphans)
        parameters.append(bool: look.oneTree)
    }

    /// `work_left` of these queues; empty: all queues.
    public static func workLeft(queues names: [String], into parameters: inout PGParameters) {
        parameters.removeAll()
        queues(names, into: &parameters)
    }

    /// `judge_cached`: `attempt` belongs to a job with a cached answer.
    public static func judgeCached(
        _ attempt: FinishedAttempt, worker: Int32, appVersion: String?, into parameters: inout PGParameters
    ) {
        parameters.removeAll()
        parameters.append(int32: worker)
        parameters.append(text: appVersion)
        parameters.append(int32: attempt.lease.track)
        parameters.append(int64: attempt.lease.seq)
        parameters.append(int64: attempt.lease.fence)
        parameters.append(int64: attempt.lease.jobID)
        parameters.append(text: attempt.verdict.message)
    }

    /// `beat` and `count_peers`.
    ///
    /// - Parameters:
    ///   - countsPeers: whether the answer has the number of workers of the same queues.
    ///   - refused: the number of refused results, how long they have waited in milliseconds, and their jobs.
    ///   - judgements: the number of answers that wait to be judged, the longest wait in milliseconds, and some of
    ///     their jobs.
    public static func beat(
        worker: Int32, inFlight: Int, isDraining: Bool, isListening: Bool, countsPeers: Bool, start: String, wal: Int64,
        refused: (count: Int, milliseconds: Int64, jobs: [Int64])?,
        judgements: (count: Int, age: Int64?, jobs: [Int64]),
        into parameters: inout PGParameters
    ) {
        parameters.removeAll()
        parameters.append(int32: worker)
        parameters.append(int32: Int32(clamping: inFlight))
        parameters.append(bool: isDraining)
        parameters.append(bool: isListening)
        parameters.append(inferred: start)
        parameters.append(int64: wal)
        parameters.append(int32: Int32(clamping: refused?.count ?? 0))
        parameters.append(int64: refused?.milliseconds)
        if let refused { parameters.append(int64s: refused.jobs) } else { parameters.appendNull(.int8Array) }
        parameters.append(int32: Int32(clamping: judgements.count))
        parameters.append(int64: judgements.age)
        let judged = judgements.jobs.isEmpty ? nil : judgements.jobs
        if let judged { parameters.append(int64s: judged) } else { parameters.appendNull(.int8Array) }
        if countsPeers { parameters.append(bool: isListening) } else { parameters.appendNull(.bool) }
    }

    /// `set_idle`.
    public static func setIdle(worker: Int32, _ isIdle: Bool, into parameters: inout PGParameters) {
        parameters.removeAll()
        parameters.append(int32: worker)
        parameters.append(bool: isIdle)
    }

    /// `lead`, `leave` and `take_aborts`, whose only parameter is the worker.
    public static func worker(_ worker: Int32, into parameters: inout PGParameters) {
        parameters.removeAll()
        parameters.append(int32: worker)
    }

    /// The leader's duties whose only parameters are worker and epoch.
    public static func duty(worker: Int32, epoch: Int64, into parameters: inout PGParameters) {
        parameters.removeAll()
        parameters.append(int32: worker)
        parameters.append(int64: epoch)
    }

    /// `run_queue_duties` and `run_schedules`: rows that are due from `since` on; nil: all.
    public static func runQueueDuties(
        worker: Int32, epoch: Int64, since: PGTimestamp?, into parameters: inout PGParameters
    ) {
        duty(worker: worker, epoch: epoch, into: &parameters)
        parameters.append(timestamp: since)
    }

    /// `expire`: jobs that expired within the last ten seconds, or at any time.
    public static func expire(worker: Int32, epoch: Int64, fromStart: Bool, into parameters: inout PGParameters) {
        duty(worker: worker, epoch: epoch, into: &parameters)
        parameters.append(bool: fromStart)
    }

    /// `fold` and `take_unreported_ends`: rows with an id above `after`.
    public static func fold(worker: Int32, epoch: Int64, after: Int64, into parameters: inout PGParameters) {
        duty(worker: worker, epoch: epoch, into: &parameters)
        parameters.append(int64: after)
    }

    /// `remove_tracks`: checks tracks after `after`.
    public static func removeTracks(
        worker: Int32, epoch: Int64, after: Int32, into parameters: inout PGParameters
    ) {
        duty(worker: worker, epoch: epoch, into: &parameters)
        parameters.append(int32: after)
    }

    /// `begin_job`.
    public static func begin(_ lease: Lease, runsHooks: Bool, into parameters: inout PGParameters) {
        parameters.removeAll()
        parameters.append(int32: lease.track)
        parameters.append(int64: lease.seq)
        parameters.append(int64: lease.fence)
        parameters.append(int64: lease.jobID)
        parameters.append(bool: runsHooks)
    }

    /// `end_session` and `idle_process`, whose parameter is the server process.
    public static func session(_ process: Int32, into parameters: inout PGParameters) {
        parameters.removeAll()
        parameters.append(int32: process)
    }

    /// `conclude`: at most `limit` jobs without functions.
    public static func conclude(limit: Int32, into parameters: inout PGParameters) {
        parameters.removeAll()
        parameters.append(int32: limit)
    }

    /// `defer_next_outcome`: the SQLSTATE of the error that ended the last conclusion; nil if unknown.
    public static func deferNextOutcome(after state: String?, into parameters: inout PGParameters) {
        parameters.removeAll()
        parameters.append(text: state)
    }

    /// The failed jobs: the rows of a fold after the first.
    public static func failedJobs(_ result: borrowing PGResult) -> [FailedJobs] {
        (0..<result.rowCount).dropFirst().map { row in
            FailedJobs(
                jobs: Int(result.int64(row, FoldColumn.jobs)), job: result.optionalInt64(row, FoldColumn.jobID),
                queue: result.optionalText(row, FoldColumn.queue),
                lane: result.optionalText(row, FoldColumn.lane), state: result.text(row, FoldColumn.state),
                attempt: result.isNull(row, FoldColumn.attempt) ? nil : Int(result.int32(row, FoldColumn.attempt)),
                code: result.optionalText(row, FoldColumn.errorCode),
                status: result.isNull(row, FoldColumn.statusCode) ? nil : Int(result.int32(row, FoldColumn.statusCode)))
        }
    }

    static func queues(_ names: [String], into parameters: inout PGParameters) {
        if names.isEmpty { parameters.appendNull(.textArray) } else { parameters.append(texts: names) }
    }
}
