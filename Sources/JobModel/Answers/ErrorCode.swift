// SPDX-License-Identifier: Apache-2.0

/// Why an attempt or a job did not succeed: the closed list that users see as `error_code`.
///
/// `postrider.error_codes` has the same list, and a test compares the two. A code never changes its meaning. A new code
/// changes the public surface.
public enum ErrorCode: String, CaseIterable, Sendable {
    // The network, and libcurl before it reaches the network.
    case dns, connect, tls, proxy, send, slow, timeout, reset, truncated, decode
    case connectTimeout = "connect_timeout"
    case tlsVerify = "tls_verify"
    case firstByteTimeout = "first_byte_timeout"
    case emptyReply = "empty_reply"
    case tooLarge = "too_large"
    case headersTooLarge = "headers_too_large"
    // Answers.
    case httpStatus = "http_status"
    case http429 = "http_429"
    case jsonInvalid = "json_invalid"
    case xmlInvalid = "xml_invalid"
    case validator, envelope
    case noData = "no_data"
    case noMoreData = "no_more_data"
    case tooExpensive = "too_expensive"
    case rule
    // Calls that are refused before a byte is sent.
    case badURL = "bad_url"
    case deniedAddress = "denied_address"
    case deniedRedirect = "denied_redirect"
    case badHeader = "bad_header"
    case template, config
    case notLoggedIn = "not_logged_in"
    // Tokens.
    case refreshFailed = "refresh_failed"
    case rejectedAfterRefresh = "rejected_after_refresh"
    case refreshExcessive = "refresh_excessive"
    case tokenExpired = "token_expired"
    case loggedOut = "logged_out"
    // Trees and pages.
    case childFailed = "child_failed"
    case paginationLoop = "pagination_loop"
    case pageLimit = "page_limit"
    // The life of a job.
    case cancelled, expired, callback, `internal`
    case lostWorker = "lost_worker"
    // Files.
    case file, checksum
}

extension ErrorCode {
    /// Whether a retry may succeed: the column `retryable` of `postrider.error_codes`.
    ///
    /// It is false for `http_status`, where the status decides; see `Verdict.isRetryable`.
    public var isRetryable: Bool {
        switch self {
        case .dns, .connect, .connectTimeout, .tls, .proxy, .send, .firstByteTimeout, .slow, .timeout, .reset,
            .emptyReply, .truncated, .decode, .http429, .refreshFailed, .lostWorker:
            true
        case .tlsVerify, .tooLarge, .headersTooLarge, .httpStatus, .jsonInvalid, .xmlInvalid, .validator, .envelope,
            .noData, .noMoreData, .badURL, .deniedAddress, .deniedRedirect, .badHeader, .template, .config,
            .notLoggedIn, .rejectedAfterRefresh, .refreshExcessive, .tokenExpired, .loggedOut, .childFailed,
            .paginationLoop, .pageLimit, .tooExpensive, .rule, .cancelled, .expired, .callback, .internal, .file,
            .checksum:
            false
        }
    }
}
