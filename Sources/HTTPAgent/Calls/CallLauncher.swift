// SPDX-License-Identifier: Apache-2.0
import JobModel

/// Checks a call, gives it a handle and begins it in a slot.
final class CallLauncher {
    private let table: CallTable
    private let files: FileCalls
    private var urls = KnownURLs()

    /// Begins calls in the slots of a table.
    init(_ table: CallTable, _ files: FileCalls) {
        self.table = table
        self.files = files
    }

    /// Begins a call. If it is refused before the network, it gets an outcome like any other call, or it waits for a
    /// free descriptor.
    func start(_ call: HTTPCall, slot: Int) {
        precondition(table.slots.contains(slot) && table[slot] == nil, "slot \(slot) is in use or out of range")
        if let stub = call.stub { return table.stubs.add(stub, for: call, slot: slot) }
        do throws(CallRefusal) {
            table.add(try begin(call, slot), slot: slot)
        } catch {
            if error.lacksDescriptors, table.postpone(slot, refused: call) { return }
            var failure = error.failure
            if DescriptorWaits.isFutile(for: call, others: table.count) { failure.lacksDescriptors = false }
            table.end(slot, refused: failure)
        }
    }

    /// Begins all calls again that wait for a descriptor.
    func startWaitingCalls() {
        for (slot, call) in table.shortage.takeAll() { start(call, slot: slot) }
    }

    private func begin(_ call: HTTPCall, _ slot: Int) throws(CallRefusal) -> Flight {
        let url: CallURL
        do throws(CallURL.Refusal) {
            url = try urls.parse(call)
        } catch {
            throw CallRefusal(.badURL, "the URL cannot be called: \(error.message)")
        }
        try RequestHeaders.check(call)
        let opened = try table.uploads.open(for: call)
        if call.transport?.proxy != nil, !call.allowsPrivateNetwork, let reason = url.privateHostReason {
            throw CallRefusal(
                .deniedAddress, "the host \(reason); a proxy may reach it only if private networks are allowed")
        }
        let transfer = try table.transfers.take(for: call.transport)
        transfer.slot = slot
        let flight = Flight(transfer: transfer, call: call, url: url)
        do throws(CallRefusal) {
            try BodyLoader.load(call, into: transfer)
            if opened.isEmpty { try files.send(flight, slot: slot) } else { table.uploads.add(opened, slot: slot) }
        } catch {
            table.transfers.giveBack(transfer)
            throw error
        }
        return flight
    }
}
