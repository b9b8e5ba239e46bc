// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// The columns of `judge_tree`.
public enum JudgeTreeColumn: Int, PGColumn {
    case lane, hasMore, hasReady

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .lane: "lane"
        case .hasMore: "has_more"
        case .hasReady: "has_ready"
        }
    }
}

/// The columns of `settle`.
public enum SettleColumn: Int, PGColumn {
    case latest, hasMore, hasReady, hasExpensive

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .latest: "latest"
        case .hasMore: "has_more"
        case .hasReady: "has_ready"
        case .hasExpensive: "has_expensive"
        }
    }
}

/// The columns of `conclude`.
public enum ConcludeColumn: Int, PGColumn {
    case ended, more, hasParents, failure

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .ended: "ended"
        case .more: "more"
        case .hasParents: "has_parents"
        case .failure: "failure"
        }
    }
}
