// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// The calls under way by slot, the records of their files and waits, and the calls that have ended.
final class CallTable {
    /// The handles of the calls.
    let transfers: TransferPools
    let sweep: SweepTimer
    var shortage: DescriptorWaits
    var names: NameWaits
    var downloads: DownloadTable
    var uploads: UploadTable
    /// The calls that stubs answer. They have no flight.
    var stubs = StubAnswers()
    private var flights: [Flight?]
    /// How many calls are under way.
    private(set) var count = 0
    private var finished: [FinishedCall] = []

    /// A table without calls.
    init(slots: Int, in loop: CurlLoop, keptTransports: Int, folder: FilesFolder, sweep: SweepTimer) {
        transfers = TransferPools(in: loop, keptTransports: keptTransports)
        self.sweep = sweep
        downloads = DownloadTable(in: folder)
        uploads = UploadTable(in: folder)
        names = NameWaits(slots: slots)
        shortage = DescriptorWaits(in: loop)
        flights = Array(repeating: nil, count: slots)
    }

    deinit {
        // The order matters: a transport's handles, then its pools, then the loop, which other properties hold.
        flights.removeAll()
        transfers.removeAll()
        // Parts and files must outlive the transfers that use them. The disk goes last and finishes its work.
        downloads.removeAll()
        uploads.removeAll()
    }

    /// The slots of the table.
    var slots: Range<Int> { flights.indices }

    /// The call in a slot. Nil for a free slot and for one out of range.
    subscript(slot: Int) -> Flight? { flights.indices.contains(slot) ? flights[slot] : nil }

    /// Puts a call into a free slot.
    func add(_ flight: Flight, slot: Int) {
        flights[slot] = flight
        count += 1
    }

    /// Replaces a call by its next sending.
    func replace(_ slot: Int, with flight: Flight) { flights[slot] = flight }

    /// Ends a call with this outcome and frees its slot.
    func end(_ slot: Int, _ flight: Flight, _ outcome: CallOutcome) {
        release(slot, flight.transfer)
        finished.append(FinishedCall(slot: slot, outcome: outcome))
    }

    /// Ends a call that was not started.
    func end(_ slot: Int, refused failure: CallFailure) {
        shortage.remove(slot)
        finished.append(FinishedCall(slot: slot, outcome: CallOutcome(.failure(failure))))
    }

    /// Frees the slot, and keeps the handle if there is room.
    private func release(_ slot: Int, _ transfer: CurlTransfer) {
        flights[slot] = nil
        count -= 1
        transfers.giveBack(transfer)
        downloads.remove(slot)
        uploads.remove(slot)
        shortage.remove(slot)
        names.remove(slot)
        if count == 0 { sweep.clear() }
    }

    /// Defers a call of which no byte was sent, until a descriptor is free. False if it must fail.
    func postpone(_ slot: Int, _ flight: Flight) -> Bool {
        guard flight.redirects == 0, shortage.mayWait(flight.call, slot: slot, others: count - 1) else { return false }
        let since = shortage.firstWait(slot)
        release(slot, flight.transfer)
        shortage.wait(flight.call, slot: slot, since: since)
        return true
    }

    /// Defers a call that could not be started. False if it must fail.
    func postpone(_ slot: Int, refused call: HTTPCall) -> Bool {
        guard shortage.mayWait(call, slot: slot, others: count) else { return false }
        shortage.wait(call, slot: slot, since: shortage.firstWait(slot))
        return true
    }

    /// Ends the calls whose stubs are due.
    func deliverStubs(now: Int64) { finished.append(contentsOf: stubs.takeDue(now: now)) }

    /// Whether calls have ended that were not taken.
    var hasFinished: Bool { !finished.isEmpty }

    /// The calls that ended since the last time.
    func takeFinished() -> [FinishedCall] {
        if finished.isEmpty { return [] }
        var taken: [FinishedCall] = []
        swap(&taken, &finished)
        finished.reserveCapacity(taken.count)
        return taken
    }

    /// Puts calls back. They come first the next time.
    func putBack(_ calls: ArraySlice<FinishedCall>) { finished.insert(contentsOf: calls, at: 0) }

    /// Aborts a call at once, without an outcome. Returns whether bytes of it may have left.
    func cancel(_ slot: Int) -> SentState {
        if let index = finished.firstIndex(where: { $0.slot == slot }) {
            let outcome = finished.remove(at: index).outcome
            if case .failure(let failure) = outcome.ending { return failure.sent }
            return .maybe
        }
        if shortage.cancel(slot) || stubs.remove(slot) { return .no }
        guard let flight = self[slot] else { return .no }
        defer { release(slot, flight.transfer) }
        if names.since(slot) != nil { return flight.redirects > 0 ? .maybe : .no }
        if uploads.isOpening(slot) || downloads[slot]?.isOpening == true { return .no }
        return unsafe flight.redirects > 0 || flight.transfer.result.request_began ? .maybe : .no
    }

    /// The progress of the call in a slot. Nil if the slot has no call.
    func progress(_ slot: Int) -> TransferProgress? {
        if let since = shortage.waitingSince(slot) {
            return TransferProgress(slot: slot, sent: 0, received: 0, phase: .descriptor, since: UInt64(max(0, since)))
        }
        guard let flight = self[slot] else { return nil }
        let task = downloads[slot]
        var progress = unsafe TransferProgress(
            ccurl_transfer_progress(flight.transfer.handle), slot: slot, file: task?.progress)
        if let since = names.since(slot) {
            (progress.phase, progress.since) = (.dns, UInt64(max(0, since)))
        } else if uploads.isOpening(slot) || task?.awaitsDisk == true {
            progress.phase = .file
        }
        return progress
    }
}
