// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// How far a call under way has come, in bytes of bodies as on the wire.
public struct TransferProgress: Equatable, Sendable {
    /// The call's slot.
    public var slot: Int
    /// Of the request's body.
    public var sent: Int64
    /// The length of the request's body; nil: none, or unknown.
    public var sendTotal: Int64?
    /// Of the answer's body; for a download of the whole file, with what earlier attempts brought.
    public var received: Int64
    /// The length of the answer's body as the server announced it; nil: it did not.
    public var receiveTotal: Int64?
}

extension HTTPAgent {
    /// Shows each call that has been under way for more than a second, in the order of their slots.
    ///
    /// Reads what libcurl's progress callback has noted; short calls cost nothing for it.
    public func progress(_ body: (TransferProgress) -> Void) {
        if inFlight == 0 { return }
        let now = ccurl_now()
        for flight in flights {
            guard let flight else { continue }
            let p = unsafe ccurl_transfer_progress(flight.transfer.handle, now)
            guard p.running_ns + flight.elapsedMicroseconds * 1_000 > 1_000_000_000 else { continue }
            let slot = flight.transfer.slot
            let file = downloads.isEmpty ? nil : downloadProgress(slot: slot)
            body(
                TransferProgress(
                    slot: slot, sent: p.sent, sendTotal: p.send_total > 0 ? p.send_total : nil,
                    received: file?.bytesDone ?? p.received,
                    receiveTotal: file?.bytesTotal ?? (p.receive_total > 0 ? p.receive_total : nil)))
        }
    }
}
