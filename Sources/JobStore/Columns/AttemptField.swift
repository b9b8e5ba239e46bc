// SPDX-License-Identifier: Apache-2.0

/// The attributes of the SQL type `finished_attempt`, in its order. The raw value is the attribute's name.
enum AttemptField: String, CaseIterable {
    case track, seq, fence, jobID = "job_id", verdict, status, code, error, headers, body
    case retryAfterMs = "retry_after_ms", dns, connect, tls, firstByte = "first_byte", total, ip, http, reused, sent
    case received, server, health, credential, version, cookies, redirected, leftOrigin = "left_origin"
    case landedAt = "landed_at", cache, encoding, result
}
