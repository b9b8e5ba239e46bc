// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The columns of `take_ended_spans`.
enum EndedSpanColumn: Int, PGColumn {
    case jobID, fence, parentID, rootID, isBelowParent, traceparent, tracestate, kind, state, queue, lane, service
    case operation, startUs, endUs, attempt, statusCode, errorCode

    var sql: StaticString {
        switch self {
        case .jobID: "job_id"
        case .fence: "fence"
        case .parentID: "parent_id"
        case .rootID: "root_id"
        case .isBelowParent: "is_below_parent"
        case .traceparent: "traceparent"
        case .tracestate: "tracestate"
        case .kind: "kind"
        case .state: "state"
        case .queue: "queue"
        case .lane: "lane"
        case .service: "service"
        case .operation: "operation"
        case .startUs: "start_us"
        case .endUs: "end_us"
        case .attempt: "attempt"
        case .statusCode: "status_code"
        case .errorCode: "error_code"
        }
    }
}
