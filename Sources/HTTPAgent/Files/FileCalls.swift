// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// Advances the calls with files: it carries out the steps of downloads and uploads.
final class FileCalls {
    private let loop: CurlLoop
    private let table: CallTable
    private let sender: RequestSender
    private let finisher: CallFinisher

    /// The calls with files among the calls of a table.
    init(_ table: CallTable, _ sender: RequestSender, _ finisher: CallFinisher, in loop: CurlLoop) {
        self.loop = loop
        self.table = table
        self.sender = sender
        self.finisher = finisher
    }

    /// Sends a call whose request is complete, or begins to open the file for its answer.
    func send(_ flight: Flight, slot: Int) throws(CallRefusal) {
        if let download = flight.call.download {
            try table.downloads.open(download, flight, slot: slot)
        } else if !sender.send(flight) {
            throw .memory
        }
    }

    /// Advances calls whose disk work or headers are ready. Returns whether a call may have ended without an event.
    func serve() -> Bool {
        if !table.uploads.isEmpty { serveUploads() }
        var hasEnded = false
        if !table.downloads.isEmpty {
            for slot in table.downloads.slots {
                guard let task = table.downloads[slot], let flight = table[slot] else { continue }
                let step = task.advance(flight)
                if case .abandon = step { hasEnded = true }
                perform(step, slot, flight)
            }
        }
        return hasEnded
    }

    private func serveUploads() {
        for slot in table.uploads.openingSlots {
            guard let flight = table[slot] else { continue }
            perform(table.uploads.advance(opening: slot), slot, flight)
        }
        for slot in loop.slotsAwaitingFiles {
            guard let flight = table[slot] else { continue }
            perform(table.uploads.advance(slot, flight.transfer), slot, flight)
        }
    }

    private func perform(_ step: UploadStep, _ slot: Int, _ flight: Flight) {
        switch step {
        case .wait: break
        case .send(let files):
            do throws(CallRefusal) {
                if case .parts(let parts) = flight.call.body {
                    try BodyLoader.add(parts, files, to: flight.transfer)
                }
                try send(flight, slot: slot)
            } catch {
                refuse(slot, flight, error)
            }
        case .resume:
            let code = unsafe ccurl_transfer_send_on(flight.transfer.handle)
            if code != 0 { finisher.finish(slot, flight, end: .library(UInt32(code))) }
        case .refuse(let refusal): refuse(slot, flight, refusal)
        case .abandon(let failure): table.end(slot, flight, CallOutcome(.failure(failure)))
        case .end(let failure): finisher.deliver(slot, flight, .failure(failure))
        case .endAnswered: finisher.finish(slot, flight, end: .library(UInt32(CURLE_OK.rawValue)))
        }
    }

    private func refuse(_ slot: Int, _ flight: Flight, _ refusal: CallRefusal) {
        if refusal.lacksDescriptors, table.postpone(slot, flight) { return }
        var failure = refusal.failure
        if DescriptorWaits.isFutile(for: flight.call, others: table.count - 1) { failure.lacksDescriptors = false }
        table.end(slot, flight, CallOutcome(.failure(failure)))
    }

    private func perform(_ step: DownloadStep, _ slot: Int, _ flight: Flight) {
        switch step {
        case .wait: break
        case .send: if !sender.send(flight) { finisher.failForMemory(slot, flight, sent: .no) }
        case .resume:
            let code = unsafe ccurl_transfer_resume(flight.transfer.handle)
            if code != 0 { finisher.finish(slot, flight, end: .library(UInt32(code))) }
        case .refuse(let failure):
            if failure.lacksDescriptors, table.postpone(slot, flight) { return }
            table.end(slot, flight, CallOutcome(.failure(failure)))
        case .conclude(let outcome): table.end(slot, flight, outcome)
        case .abandon(let failure): finisher.deliver(slot, flight, .failure(failure))
        case .end(let end): finisher.finish(slot, flight, end)
        }
    }
}
