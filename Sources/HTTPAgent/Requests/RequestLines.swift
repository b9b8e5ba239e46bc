// SPDX-License-Identifier: Apache-2.0
import JobModel

/// Composes the header lines of a sending: the job's own, those for URL and body, and removals of headers that libcurl
/// would add.
struct RequestLines {
    /// Memory for the lines of the next sending.
    private var lines: [UInt8] = []
    /// Whether the last headers request encodings that only libcurl can decode.
    private(set) var needsLibraryDecoding = false

    /// Sets the lines of the next sending of a flight. False without memory.
    ///
    /// - Parameter download: the download that the call is; nil: none.
    mutating func set(for flight: borrowing Flight, sendsBody: Bool, download: DownloadTask?) -> Bool {
        let call = flight.call
        needsLibraryDecoding = false
        if call.headers.isEmpty, !sendsBody, flight.authorization == nil, call.download == nil,
            call.mayShareConnection
        {
            return flight.transfer.setHeaders([], count: 0)
        }
        lines.removeAll(keepingCapacity: true)
        var count = 0
        var hasType = false
        var hasAuthorization = false
        for header in call.headers {
            let name = header.name.lowercased()
            if flight.leftOrigin, !RequestHeaders.crossesOrigins(name) { continue }
            if !flight.keepsBody, name.hasPrefix("content-") { continue }
            if name == "accept-encoding", call.download != nil { continue }
            if name == "cookie", call.usesCookies { continue }
            // Parts allow no other type, and libcurl would append its boundary to any.
            if name == "content-type", call.body.isParts { continue }
            if name == "content-type" { hasType = true }
            if name == "authorization" { hasAuthorization = true }
            if name == "accept-encoding" { needsLibraryDecoding = RequestHeaders.needsLibraryDecoding(header.value) }
            RequestHeaders.append(header.name, header.value, to: &lines)
            count += 1
        }
        if let download { count += download.appendHeaders(to: &lines) }
        if let authorization = flight.authorization, !hasAuthorization, !flight.leftOrigin {
            RequestHeaders.append("Authorization", authorization, to: &lines)
            count += 1
        }
        if sendsBody { count += appendBodyLines(for: flight, hasType: hasType) }
        if !call.mayShareConnection {
            // The side that closes first keeps the port for a minute. So the server should close.
            RequestHeaders.append("Connection", "close", to: &lines)
            // libcurl would send a proxy the opposite.
            RequestHeaders.appendRemoval(of: "Proxy-Connection", to: &lines)
            count += 2
        }
        return flight.transfer.setHeaders(lines, count: count)
    }

    /// Appends the lines that describe the body. Returns their number.
    private mutating func appendBodyLines(for flight: borrowing Flight, hasType: Bool) -> Int {
        var count = 0
        if !hasType {
            switch flight.call.body {
            case .form where flight.keepsBody:
                RequestHeaders.append("Content-Type", "application/x-www-form-urlencoded", to: &lines)
            case .bytes(_, let type?) where flight.keepsBody:
                RequestHeaders.append("Content-Type", type, to: &lines)
            case .parts where flight.keepsBody:
                // libcurl writes it, with the boundary.
                count -= 1
            default:
                // libcurl would mark every body as a form.
                RequestHeaders.appendRemoval(of: "Content-Type", to: &lines)
            }
            count += 1
        }
        // libcurl would wait a second for the 100 of a server that ignores it (RFC 9110 §10.1.1).
        RequestHeaders.appendRemoval(of: "Expect", to: &lines)
        count += 1
        if flight.transfer.hasGzipBody {
            RequestHeaders.append("Content-Encoding", "gzip", to: &lines)
            count += 1
        }
        return count
    }
}
