// SPDX-License-Identifier: Apache-2.0
import CCurl
public import JobModel

/// The progress of a running call, in bytes of bodies as on the wire.
public struct TransferProgress: Equatable, Sendable {
    /// The call's slot.
    public var slot: Int
    /// Sent bytes of the request's body.
    public var sent: Int64
    /// The length of the request's body; nil: no body, or unknown.
    public var sendTotal: Int64?
    /// Received bytes of the answer's body. A download counts the bytes of earlier attempts as well.
    public var received: Int64
    /// The length of the answer's body that the server announced; nil if it did not.
    public var receiveTotal: Int64?
    /// The phase of the call.
    public var phase: CallPhase
    /// When the phase began, in nanoseconds of CLOCK_MONOTONIC; nil if unknown.
    public var since: UInt64?
    /// When a limit ends the call if it makes no progress; nil without such a limit.
    public var deadline: UInt64?
}

extension TransferProgress {
    /// The progress that libcurl reports. It reads values that libcurl keeps for each transfer anyway.
    ///
    /// - Parameter file: the bytes of the file that the answer goes to; nil: none.
    init(_ p: ccurl_progress, slot: Int, file: DownloadProgress?) {
        self.init(
            slot: slot, sent: p.sent, sendTotal: p.send_total > 0 ? p.send_total : nil,
            received: file?.bytesDone ?? p.received,
            receiveTotal: file?.bytesTotal ?? (p.receive_total > 0 ? p.receive_total : nil),
            phase: TransferProgress.phase(p.phase), since: p.phase_ns > 0 ? UInt64(p.phase_ns) : nil,
            deadline: p.deadline_ns > 0 ? UInt64(p.deadline_ns) : nil)
    }

    private static func phase(_ phase: ccurl_phase) -> CallPhase {
        switch phase {
        case CCURL_PHASE_DNS: .dns
        case CCURL_PHASE_CONNECT: .connect
        case CCURL_PHASE_TLS: .tls
        case CCURL_PHASE_SEND: .send
        case CCURL_PHASE_FIRST_BYTE: .firstByte
        case CCURL_PHASE_RECEIVE: .receive
        case CCURL_PHASE_ROOM: .memory
        case CCURL_PHASE_FILE: .file
        default: .connection
        }
    }
}
