// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// The columns of `finish`, `judge`, `judge_alone` and `judge_cached`.
public enum FinishColumn: Int, PGColumn {
    case done, outcomes

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .done: "done"
        case .outcomes: "outcomes"
        }
    }
}

/// The columns of `take_unreported_ends`.
public enum UnreportedEndColumn: Int, PGColumn {
    case latest, queue, service, state, jobs

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .latest: "latest"
        case .queue: "queue"
        case .service: "service"
        case .state: "state"
        case .jobs: "jobs"
        }
    }
}

/// The columns of `track_labels`.
public enum TrackLabelColumn: Int, PGColumn {
    case track, queue, laneGroup

    /// The column in the SELECT list.
    public var sql: StaticString {
        switch self {
        case .track: "track"
        case .queue: "queue"
        case .laneGroup: "lane_group"
        }
    }
}
