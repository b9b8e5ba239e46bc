// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The columns of `claim` and `claim_one`.
enum ClaimColumn: Int, CallColumn {
    case track, seq, fence, jobID, attempt, atMostOnce, rekey, method, url, query, headers, bodyKind, body, form
    case timeoutMs, maxResponse, okStatuses, isRich, isMember, hasCallbacks, largeBody, waited

    var sql: StaticString {
        switch self {
        case .track: "track"
        case .seq: "seq"
        case .fence: "fence"
        case .jobID: "job_id"
        case .attempt: "attempt"
        case .atMostOnce: "at_most_once"
        case .rekey: "rekey"
        case .method: "method"
        case .url: "url"
        case .query: "query"
        case .headers: "headers"
        case .bodyKind: "body_kind"
        case .body: "body"
        case .form: "form"
        case .timeoutMs: "timeout_ms"
        case .maxResponse: "max_response"
        case .okStatuses: "ok_statuses"
        case .isRich: "is_rich"
        case .isMember: "is_member"
        case .hasCallbacks: "has_callbacks"
        case .largeBody: "large_body"
        case .waited: "waited"
        }
    }

    /// The column in `claim_one`, which reads it from the rows `r` of `ready` and `j` of `jobs`.
    var sqlOfOne: StaticString {
        switch self {
        case .track: "r.track"
        case .seq: "r.seq"
        case .fence: "r.fence"
        case .jobID: "r.job_id"
        case .attempt: "r.attempt"
        case .atMostOnce: "r.at_most_once"
        case .rekey: "r.rekey"
        case .method: "j.method"
        case .url: "j.url"
        case .query: "null::text[] as query"
        case .headers: "null::text[] as headers"
        case .bodyKind:
            """
            case when j.body is not null then 'b' when j.body_json is not null then 'j' else 'n' end::"char" as body_kind
            """
        case .body: "coalesce(j.body, convert_to(j.body_json::text, 'UTF8')) as body"
        case .form: "null::text[] as form"
        case .timeoutMs: "null::int as timeout_ms"
        case .maxResponse: "null::bigint as max_response"
        case .okStatuses: "null::int[] as ok_statuses"
        case .isRich: "false as is_rich"
        case .isMember: "false as is_member"
        case .hasCallbacks: "r.has_callbacks"
        case .largeBody: "null::bigint as large_body"
        case .waited: "now() - greatest(j.run_at, j.created_at) as waited"
        }
    }

    /// The columns of `claim_one`, separated by commas.
    static var listOfOne: String { allCases.map { "\($0.sqlOfOne)" }.joined(separator: ", ") }
}
