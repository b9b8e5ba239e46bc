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

extension HTTPAgent {
    /// The progress of the call in a slot. Nil if the slot has no call.
    ///
    /// It reads values that libcurl keeps for each transfer anyway.
    public func progress(slot: Int) -> TransferProgress? {
        if let short = shortCalls[slot], short.isWaiting {
            return TransferProgress(
                slot: slot, sent: 0, received: 0, phase: .descriptor, since: UInt64(max(0, short.since)))
        }
        guard flights.indices.contains(slot), let flight = flights[slot] else { return nil }
        return unsafe progress(of: flight, ccurl_transfer_progress(flight.transfer.handle))
    }

    private func progress(of flight: Flight, _ p: ccurl_progress) -> TransferProgress {
        let slot = flight.transfer.slot
        let file = downloads.isEmpty ? nil : downloadProgress(slot: slot)
        var progress = TransferProgress(
            slot: slot, sent: p.sent, sendTotal: p.send_total > 0 ? p.send_total : nil,
            received: file?.bytesDone ?? p.received,
            receiveTotal: file?.bytesTotal ?? (p.receive_total > 0 ? p.receive_total : nil),
            phase: HTTPAgent.phase(p.phase), since: p.phase_ns > 0 ? UInt64(p.phase_ns) : nil,
            deadline: p.deadline_ns > 0 ? UInt64(p.deadline_ns) : nil)
        if let awaited = awaitedNames[slot] {
            (progress.phase, progress.since) = (.dns, UInt64(max(0, awaited.since)))
        } else if openingUploads.contains(slot) {
            progress.phase = .file
        }
        switch downloads[slot]?.phase {
        case .opening, .settling: progress.phase = .file
        case .asking, .keeping, .writing, nil: break
        }
        return progress
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
