// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// The columns of `enlist`.
public enum EnlistColumn: Int, PGColumn {
    case worker, installation, idempotencyHeader, held, identity, keysAbove, keys, lostLeases, unknownJobs
    case judgeTimeoutMs

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .worker: "worker"
        case .installation: "installation"
        case .idempotencyHeader: "idempotency_header"
        case .held: "held"
        case .identity: "identity"
        case .keysAbove: "keys_above"
        case .keys: "keys"
        case .lostLeases: "lost_leases"
        case .unknownJobs: "unknown_jobs"
        case .judgeTimeoutMs: "judge_timeout_ms"
        }
    }
}

/// The columns of `beat` and `count_peers`.
public enum BeatColumn: Int, PGColumn {
    case isEnlisted, wal, listeners, peers

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .isEnlisted: "postrider_internal.beat($1,$2,$3,$4,$5::uuid,$6,$7,$8,$9,$10,$11,$12) as is_enlisted"
        case .wal: "(pg_current_wal_flush_lsn() - '0/0')::bigint as wal"
        case .listeners: "listeners"
        case .peers: "peers"
        }
    }
}

/// The columns of `take_aborts`.
public enum AbortColumn: Int, PGColumn {
    case jobID, fence

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .jobID: "job_id"
        case .fence: "fence"
        }
    }
}

/// The columns of `survey`.
enum SurveyColumn: Int, PGColumn {
    case track, priority, firstSeq, lane, hasMore

    var sql: StaticString {
        switch self {
        case .track: "track"
        case .priority: "priority"
        case .firstSeq: "first_seq"
        case .lane: "lane"
        case .hasMore: "has_more"
        }
    }
}

/// The columns of `acquire_lane_permits`.
enum PermitColumn: Int, PGColumn {
    case lane, permits, share, slots, firstUs, spacingUs, lateUs, nowUs

    var sql: StaticString {
        switch self {
        case .lane: "lane"
        case .permits: "permits"
        case .share: "share"
        case .slots: "slots"
        case .firstUs: "first_us"
        case .spacingUs: "spacing_us"
        case .lateUs: "late_us"
        case .nowUs: "now_us"
        }
    }
}
