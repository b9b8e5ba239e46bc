// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// The columns of `run_queue_duties`.
public enum QueueDutiesColumn: Int, PGColumn {
    case leads, moved, more, latest, hasDueOutcomes, hasCrowd

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .leads: "leads"
        case .moved: "moved"
        case .more: "more"
        case .latest: "latest"
        case .hasDueOutcomes: "has_due_outcomes"
        case .hasCrowd: "has_crowd"
        }
    }
}

/// The columns of `run_schedules`.
public enum TickColumn: Int, PGColumn {
    case made, more, latest, waitMs

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .made: "made"
        case .more: "more"
        case .latest: "latest"
        case .waitMs: "wait_ms"
        }
    }
}

/// The columns of `reap`.
public enum ReapColumn: Int, PGColumn {
    case lostWorker, lostName, jobs

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .lostWorker: "lost_worker"
        case .lostName: "lost_name"
        case .jobs: "jobs"
        }
    }
}

/// The columns of `fold`. The first row has the columns `latest` and `jobs` only.
public enum FoldColumn: Int, PGColumn {
    case latest, jobs, jobID, queue, lane, state, attempt, errorCode, statusCode

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .latest: "latest"
        case .jobs: "jobs"
        case .jobID: "job_id"
        case .queue: "queue"
        case .lane: "lane"
        case .state: "state"
        case .attempt: "attempt"
        case .errorCode: "error_code"
        case .statusCode: "status_code"
        }
    }
}

/// The columns of `remove_tracks`.
public enum RemoveTracksColumn: Int, PGColumn {
    case reached, isPending

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .reached: "reached"
        case .isPending: "is_pending"
        }
    }
}

/// The columns of `prune`.
public enum PruneColumn: Int, PGColumn {
    case jobs, dropped, waitMs

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .jobs: "jobs"
        case .dropped: "dropped"
        case .waitMs: "wait_ms"
        }
    }
}
