// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

// The worker's number: lost with the connection that claims, and asked for anew together with the leases that still
// hold.
extension Dispatcher {
    /// The connection of claims is gone, and the number with it. `numbers` are exchanges without an answer.
    mutating func connectionLost(_ numbers: some Sequence<UInt64>, now: UInt64) {
        giveUpNumber()
        isEnlisting = false
        deferred.connectionLost()
        for number in numbers {
            let batch = exchanges[number]?.batch
            let entries = preparations[number]?.entries.count ?? 0
            takeBack(number, now: now)
            // The statement itself may have ended the server's process, and would each time.
            if let batch { _ = refuse(batch, now: now) }
            if entries > 0 { _ = refusePreparation(entries, now: now) }
        }
    }

    /// Begins to ask for a number. Returns the old number and the leases that are still needed; nil if the worker
    /// already asks.
    mutating func beginEnlisting() -> (old: Int32, held: [Lease])? {
        guard !isEnlisting else { return nil }
        giveUpNumber()
        isEnlisting = true
        // A finish on its way ahead may fail, and its attempts come back: their leases are needed too.
        let underWay = exchanges.values.flatMap { $0.batch?.attempts ?? [] }
        let waiting = deferred.leases + writeThrottle.refused.leases + judging.leases
        return (formerWorker, slots.running.map(\.job.lease) + (finished + underWay).map(\.lease) + waiting)
    }

    /// It could not be sent, or was refused.
    mutating func enlistingFailed() {
        isEnlisting = false
    }

    /// The number is there. Returns the slots, free now, of calls whose lease no longer holds: their jobs run
    /// elsewhere or are done.
    ///
    /// - Parameter isOtherDatabase: whether tracks, seqs and lanes have other numbers than before.
    mutating func enlisted(_ number: Int32, held: Set<Int64>, isOtherDatabase: Bool = false) -> [Int] {
        isEnlisting = false
        worker = number
        formerWorker = number
        let lost = slots.running.filter { !held.contains($0.job.lease.seq) }.map(\.slot)
        for slot in lost { free(slot, now: 0) }
        if isOtherDatabase {
            knownTracks = KnownTracks()
            surveyCursor = SurveyCursor()
            lanes = LanePermits()
        }
        lanes.drawAnew()
        finished.removeAll { !held.contains($0.lease.seq) }
        deferred.keep(held)
        writeThrottle.refused.keep(held)
        judging.keep(held)
        pickup.connectionLost()
        look()
        pollSchedule = PollSchedule()
        return lost
    }

    private mutating func giveUpNumber() {
        if worker > 0 { formerWorker = worker }
        worker = 0
    }
}
