// SPDX-License-Identifier: Apache-2.0
import JobModel

extension RequestHeaders {
    /// The facts about one sending that decide on its header lines.
    struct Sending {
        /// The login from the user and password in the URL.
        var authorization: String?
        /// Whether a redirect led to another origin.
        var leftOrigin: Bool
        /// Whether redirects have kept the body.
        var keepsBody: Bool
        /// Whether the request sends a body, possibly an empty one.
        var sendsBody: Bool
        /// Whether the body is compressed.
        var hasGzipBody: Bool
    }

    /// Appends the header lines of a sending: the job's own, those for URL and body, and removals of headers that
    /// libcurl would add.
    ///
    /// - Parameter appendDownload: appends the lines of a download and returns their number.
    /// - Returns: the number of lines, and whether only libcurl can decode the answer.
    static func appendAll(
        of call: HTTPCall, _ sending: Sending, to lines: inout [UInt8], appendDownload: (inout [UInt8]) -> Int
    ) -> (count: Int, needsLibraryDecoding: Bool) {
        var count = 0
        var needsDecoding = false
        var hasType = false
        var hasAuthorization = false
        for header in call.headers {
            let name = header.name.lowercased()
            if sending.leftOrigin, !crossesOrigins(name) { continue }
            if !sending.keepsBody, name.hasPrefix("content-") { continue }
            if name == "accept-encoding", call.download != nil { continue }
            if name == "cookie", call.usesCookies { continue }
            // Parts allow no other type, and libcurl would append its boundary to any.
            if name == "content-type", call.body.isParts { continue }
            if name == "content-type" { hasType = true }
            if name == "authorization" { hasAuthorization = true }
            if name == "accept-encoding" { needsDecoding = needsLibraryDecoding(header.value) }
            append(header.name, header.value, to: &lines)
            count += 1
        }
        if call.download != nil { count += appendDownload(&lines) }
        if let authorization = sending.authorization, !hasAuthorization, !sending.leftOrigin {
            append("Authorization", authorization, to: &lines)
            count += 1
        }
        if sending.sendsBody, !hasType {
            switch call.body {
            case .form where sending.keepsBody:
                append("Content-Type", "application/x-www-form-urlencoded", to: &lines)
            case .bytes(_, let type?) where sending.keepsBody:
                append("Content-Type", type, to: &lines)
            case .parts where sending.keepsBody:
                // libcurl writes it, with the boundary.
                count -= 1
            default:
                // libcurl would mark every body as a form.
                appendRemoval(of: "Content-Type", to: &lines)
            }
            count += 1
        }
        if sending.sendsBody {
            // libcurl would wait a second for the 100 of a server that ignores it (RFC 9110 §10.1.1).
            appendRemoval(of: "Expect", to: &lines)
            count += 1
        }
        if sending.sendsBody, sending.hasGzipBody {
            append("Content-Encoding", "gzip", to: &lines)
            count += 1
        }
        if !call.mayShareConnection {
            // The side that closes first keeps the port for a minute. So the server should close.
            append("Connection", "close", to: &lines)
            // libcurl would send a proxy the opposite.
            appendRemoval(of: "Proxy-Connection", to: &lines)
            count += 2
        }
        return (count, needsDecoding)
    }
}
