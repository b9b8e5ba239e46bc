// SPDX-License-Identifier: Apache-2.0

public import JobModel

/// Something that an operator may want to read in the log. Holds no secret, no URL and no body.
public enum EngineEvent: Equatable, Sendable {
    /// The worker has its number and claims jobs. Also sent after each reconnect.
    case enlisted(worker: Int32, heldLeases: Int)
    /// A connection is lost. The worker reconnects.
    case connectionLost(session: String, reason: String)
    /// A connection is there again.
    case connected(session: String)
    /// The database no longer knows these leases as leases of this worker. Their calls were aborted.
    case leasesLost(jobs: Int)
    /// This worker found first that the database was restored. It has ended all leases in it.
    case databaseRestored(leases: Int, unknownJobs: Int)
    /// The worker is connected to another database than before. It aborts the calls of the old one, and drops results
    /// that were not stored.
    case databaseChanged(calls: Int, results: Int)
    /// Results that were not stored. Results whose lease had ended are dropped. All others wait and are written again.
    case resultsRefused(jobs: Int, reason: String)
    /// A statement failed. Its work is tried again.
    case statementFailed(verb: String, reason: String)
    /// The database refuses to store the body of a result, or to build the call of a job. The job ends with `internal`.
    /// A result keeps its status and loses its body.
    case resultUnstorable(job: Int64, reason: String)
    /// An open transaction has locked these running jobs for about 15 s. Their results wait for its end.
    case resultsLocked(jobs: Int)
    /// This worker has become the leader, or has stopped being it.
    case leading(Bool)
    /// Another worker was silent for 10 s; its jobs run again.
    case workerReaped(name: String, jobs: Int)
    /// Jobs have failed or ended unknown, and are not retried.
    case jobFailed(FailedJobs)
    /// The number of further failed jobs within a minute that got no event each.
    case moreFailed(jobs: Int)
    /// A partition was added.
    case partitionAdded(String)
    /// A partition was dropped, since the retention of its jobs is over.
    case rangePruned(String, jobs: Int)
    /// Jobs whose retention is over were deleted.
    case pruned(jobs: Int)
    /// Calls wait because the process has no free file descriptor.
    case outOfDescriptors
    /// Request bodies and answers have waited for the memory budget for 5 s.
    case memoryShort(bodies: Int, answers: Int)
    /// A worker that runs once ends although work is left that cannot become a call. The text is a word of `work_left`.
    case workLeft(String)
    /// The worker drains: a signal asked it to stop, or a worker that runs once has no work left.
    case draining(inFlight: Int)
    /// The calls that were cut off at the end of the drain.
    case handedBack(jobs: Int)
    /// A call was aborted because its job was cancelled.
    case callAborted(job: Int64)
    /// A credential has a new token.
    case tokenRefreshed(credential: String, version: Int64)
    /// A token could not be fetched. If final, the credential is logged off, unless it has a spare. If not, it is tried
    /// again.
    case refreshFailed(credential: String, isFinal: Bool, reason: String)
    /// A refresh took longer than its lease. Another worker may have begun a new one.
    case refreshLate(credential: String)
    /// Spans were dropped, so many since the last such event: the collector did not take them.
    case spansDropped(spans: Int, reason: String)
    /// The loop has ended.
    case stopped
}

/// How a worker's run ended.
public enum EngineEnd: Equatable, Sendable {
    /// The worker has handed everything back.
    case clean
    /// The worker could not sign off in time. Its leases are reaped after 10 s.
    case abandoned
    /// The worker could not sign off because the database was unreachable. Its leases are reaped after 10 s.
    case unreachable
    /// The database now has another schema version. The reason says what to do.
    case schemaMismatch(String)
}
