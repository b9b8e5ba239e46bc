// SPDX-License-Identifier: Apache-2.0

public import JobModel

/// Something that an operator may want to read in the log. Holds no secret, no URL and no body.
public enum EngineEvent: Equatable, Sendable {
    /// The worker has its number and claims jobs; also after each reconnect.
    case enlisted(worker: Int32, heldLeases: Int)
    /// A connection is gone; the session comes back by itself.
    case connectionLost(session: String, reason: String)
    /// A connection is there again.
    case connected(session: String)
    /// Leases that the database no longer knows as ours: their calls were aborted.
    case leasesLost(jobs: Int)
    /// This worker was the first to find that the database was restored, and has ended all leases in it.
    case databaseRestored(leases: Int, unknownJobs: Int)
    /// The database is another one than before. Calls of the old one are aborted, results that were not stored are
    /// dropped.
    case databaseChanged(calls: Int, results: Int)
    /// Results that were not stored. Those whose lease had ended are dropped; all others wait and are written again.
    case resultsRefused(jobs: Int, reason: String)
    /// A statement failed; what it was for is tried again.
    case statementFailed(verb: String, reason: String)
    /// A result that the database cannot store as it is; the job ends with `internal`, with its status and without the
    /// body.
    case resultUnstorable(job: Int64, reason: String)
    /// Somebody's open transaction has locked these running jobs for a quarter of a minute: their results wait for its
    /// end.
    case resultsLocked(jobs: Int)
    /// This worker leads now, or leads no more.
    case leading(Bool)
    /// Another worker was silent for 10 s; its jobs run again.
    case workerReaped(name: String, jobs: Int)
    /// Jobs have failed or ended unknown, for good.
    case jobFailed(FailedJobs)
    /// As many more within a minute as were not told one by one.
    case moreFailed(jobs: Int)
    /// A range of ids was added.
    case partitionAdded(String)
    /// A range of ids was dropped: the retention of its jobs is over.
    case rangePruned(String, jobs: Int)
    /// Jobs whose retention is over were deleted.
    case pruned(jobs: Int)
    /// Calls wait since the process has no file descriptor left for them.
    case outOfDescriptors
    /// Request bodies and answers have waited for the memory budget for 5 s.
    case memoryShort(bodies: Int, answers: Int)
    /// A worker that runs once ends although something is left: it does not become a call. In the word of `work_left`.
    case workLeft(String)
    /// A signal asked to stop, or a worker that runs once has nothing left to do.
    case draining(inFlight: Int)
    /// Calls that were cut off at the end of the drain.
    case handedBack(jobs: Int)
    /// A call was aborted because its job was cancelled.
    case callAborted(job: Int64)
    /// A credential has a new token.
    case tokenRefreshed(credential: String, version: Int64)
    /// A token could not be fetched; final: the credential is logged off unless it has a spare, else it is tried again.
    case refreshFailed(credential: String, isFinal: Bool, reason: String)
    /// A refresh took longer than its lease; another worker may have begun anew.
    case refreshLate(credential: String)
    /// The loop has ended.
    case stopped
}

/// How a worker's run ended.
public enum EngineEnd: Equatable, Sendable {
    /// All is handed back.
    case clean
    /// It could not say goodbye in time: its leases are reaped after 10 s.
    case abandoned
    /// As before, since the database is away.
    case unreachable
    /// The database is of another version now; the reason says what to do.
    case schemaMismatch(String)
}
