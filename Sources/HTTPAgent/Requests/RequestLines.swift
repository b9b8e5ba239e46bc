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
        let count: Int
        (count, needsLibraryDecoding) = RequestHeaders.appendAll(
            of: call,
            RequestHeaders.Sending(
                authorization: flight.authorization, leftOrigin: flight.leftOrigin, keepsBody: flight.keepsBody,
                sendsBody: sendsBody, hasGzipBody: flight.transfer.hasGzipBody), to: &lines
        ) { download?.appendHeaders(to: &$0) ?? 0 }
        return flight.transfer.setHeaders(lines, count: count)
    }
}
