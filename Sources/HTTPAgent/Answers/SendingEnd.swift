// SPDX-License-Identifier: Apache-2.0
import CCurl

/// How a sending ended, as far as it decides the next step of its call. Pure.
struct SendingEnd: Equatable {
    /// The next step of a call.
    enum Step: Equatable {
        /// The answer redirects, and the call follows.
        case redirect
        /// The proxy itself has refused the request.
        case proxyRefusal
        /// The answer is complete, apart from its encoding.
        case answer
        /// There is no complete answer.
        case failure
    }

    var cause: Evidence.End
    var status = 0
    /// Whether all header lines of a final answer have arrived. Its body may be incomplete.
    var hasHeaders = false
    var hasLocation = false
    var isCloseUnannounced = false
    var lacksMemory = false
    var isBodyTooLarge = false
    var codingDefect = CCURL_CODING_FINE

    /// The next step.
    ///
    /// - Parameters:
    ///   - maxRedirects: the limit of the call; 0: it follows none.
    ///   - isProxied: whether the request went in plain text through an HTTP proxy. Then the proxy itself gives a 407,
    ///     so the server got nothing. For https the proxy refuses CONNECT.
    func step(maxRedirects: Int, isProxied: @autoclosure () -> Bool) -> Step {
        // The body of a redirect is not used, complete or not.
        if hasUsableHeaders,
            RedirectRules.isFollowed(status, hasLocation: hasLocation, maxRedirects: maxRedirects)
        {
            return .redirect
        }
        // libcurl also reports success if the connection ends inside the headers.
        guard isSuccess, hasHeaders, !isCloseUnannounced else { return .failure }
        return status == 407 && isProxied() ? .proxyRefusal : .answer
    }

    /// Whether libcurl reports no failure.
    var isSuccess: Bool { cause == .library(UInt32(CURLE_OK.rawValue)) }

    /// Whether the headers of an answer can be used, however its body ended. After the call's timeout they cannot.
    private var hasUsableHeaders: Bool {
        guard hasHeaders else { return false }
        if isSuccess { return true }
        return !lacksMemory && cause != .library(UInt32(CURLE_OPERATION_TIMEDOUT.rawValue))
    }

    /// Whether an answer is complete, or as far as libcurl could decode it, and only its encoding is broken.
    var isUndecoded: Bool {
        guard hasHeaders, !lacksMemory, !isBodyTooLarge else { return false }
        return isSuccess && !isCloseUnannounced && codingDefect != CCURL_CODING_FINE
            || cause == .library(UInt32(CURLE_BAD_CONTENT_ENCODING.rawValue))
            || cause == .library(UInt32(CURLE_WRITE_ERROR.rawValue)) && codingDefect == CCURL_CODING_BROKEN
    }
}

extension SendingEnd {
    /// The end of a sending with this result.
    init(_ result: ccurl_result, cause: Evidence.End) {
        // RFC 9113 §8.1: a server that ignores the rest of a request may reset its stream after a complete answer.
        let isReset = cause == .library(UInt32(CURLE_HTTP2_STREAM.rawValue))
        unsafe self.init(
            cause: isReset && result.stream_whole ? .library(UInt32(CURLE_OK.rawValue)) : cause,
            status: Int(result.status),
            hasHeaders: result.headers_whole,
            hasLocation: result.location != nil,
            isCloseUnannounced: result.close_unannounced,
            lacksMemory: result.memory_out,
            isBodyTooLarge: result.body_too_large,
            codingDefect: result.coding_defect
        )
    }
}
