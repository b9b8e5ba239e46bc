// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// Reads the outcome of a call from libcurl's facts about its last sending.
enum AnswerReader {
    /// The answer for the owner.
    ///
    /// - Parameter transfer: the transfer whose body is taken; nil: no body is wanted.
    static func response(_ result: ccurl_result, takenFrom transfer: CurlTransfer? = nil) -> HTTPResponse {
        var response = unsafe HTTPResponse(
            status: Int(result.status),
            headerBlock: bytes(result.headers, result.headers_length),
            body: transfer?.takeBody(result.body_length) ?? []
        )
        if let wait = unsafe requestedWait(result) {
            response.retryAfter = wait.retryAfter
            response.quotaReset = wait.quotaReset
            response.unreadableWait = wait.unreadable
        }
        return response
    }

    /// The wait that the answer's headers ask for. Nil if no header mentions a wait.
    private static func requestedWait(_ result: ccurl_result) -> RequestedWait? {
        guard unsafe result.has_wait else { return nil }
        let block = unsafe bytes(result.headers, result.headers_length)
        let now = AnswerHeaders(block: block).clock(now: ccurl_wall_seconds())
        return unsafe RequestedWait(block, status: Int(result.status), now: now)
    }

    /// The Location as text. Bytes that are not UTF-8 are percent-encoded.
    static func location(_ result: ccurl_result) -> String? {
        guard let start = unsafe result.location else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: result.location_length)
        return unsafe String(validating: bytes, as: UTF8.self) ?? PercentEncoding.encodeBeyondASCII(bytes)
    }

    /// The outcome of a call that ends with this sending.
    static func outcome(_ ending: CallOutcome.Ending, _ flight: Flight, _ result: ccurl_result) -> CallOutcome {
        var timings = CallTimings()
        let before = flight.elapsedMicroseconds
        timings.dns = unsafe result.dns_us > 0 ? before + result.dns_us : 0
        timings.connect = unsafe result.reused || result.connect_us == 0 ? 0 : before + result.connect_us
        timings.tls = unsafe result.reused || result.tls_us == 0 ? 0 : before + result.tls_us
        timings.firstByte = unsafe result.first_byte_us > 0 ? before + result.first_byte_us : 0
        timings.total = unsafe before + result.total_us
        return unsafe CallOutcome(
            ending,
            timings: timings,
            remoteIP: result.remote_ip.map { unsafe String(cString: $0) },
            httpVersion: version(result),
            reused: result.reused,
            bytesSent: flight.bytesSent + result.bytes_sent,
            bytesReceived: flight.bytesReceived + result.bytes_received,
            cookies: flight.call.usesCookies ? cookies(of: flight) : nil,
            redirected: flight.redirects > 0,
            leftOrigin: flight.leftOrigin,
            landedAt: flight.redirects > 0 && !flight.leftOrigin ? flight.url.text : nil
        )
    }

    /// The changes of the call in its jar. Cookies of other origins are added to the cookies of its own origin.
    private static func cookies(of flight: Flight) -> CookieChanges? {
        if !flight.cookiesOfOrigin.isEmpty {
            _ = flight.transfer.setCookies(flight.cookiesOfOrigin + flight.transfer.cookies)
        }
        // A cookie that an answer deletes stays in libcurl's jar with an expiry in the past.
        let now = ccurl_wall_seconds()
        let jar = flight.transfer.cookies.filter { !CookieLines.hasExpired($0, now: now) }
        return CookieChanges(from: flight.call.cookies, to: jar)
    }

    private static func version(_ result: ccurl_result) -> String? {
        guard unsafe result.answer_began else { return nil }
        switch unsafe UInt32(truncatingIfNeeded: result.http_version) {
        case UInt32(CURL_HTTP_VERSION_1_0): return "1.0"
        case UInt32(CURL_HTTP_VERSION_1_1): return "1.1"
        case UInt32(CURL_HTTP_VERSION_2_0): return "2"
        default: return nil
        }
    }

    private static func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }
}
