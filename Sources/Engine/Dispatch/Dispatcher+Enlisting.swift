// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

// The worker's number. It is lost with the claiming connection. A new one is requested together with the leases that
// still hold.
extension Dispatcher {
    /// Records that the claiming connection is lost, and the worker's number with it. `numbers` are the exchanges and
    /// preparations without an answer.
    mutating func connectionLost(_ numbers: some Sequence<UInt64>, now: UInt64) {
        lifecycle.numberLost()
        deferred.connectionLost()
        for number in numbers {
            let batch = exchanges[number]?.batch
            carryOut(preparations.connectionLost(number, now: now), now: now)
            takeBack(number, now: now)
            // The statement itself may have crashed the server process, and would do so each time. So it counts as
            // refused.
            if let batch { _ = refuse(batch, now: now) }
        }
    }

    /// Begins to request a number. Returns the old number and the leases that are still needed. Nil if a request is
    /// already under way.
    mutating func beginEnlisting() -> (old: Int32, held: [Lease])? {
        guard let former = lifecycle.requestNumber() else { return nil }
        // A finish under way may fail, and its attempts come back. So their leases are needed too.
        let underWay = exchanges.values.flatMap { $0.batch?.attempts ?? [] }
        let waiting = deferred.leases + writeThrottle.refused.leases + judging.leases
        return (former, slots.running.map(\.job.lease) + (finished + underWay).map(\.lease) + waiting)
    }

    /// Records that the request could not be sent, or was refused.
    mutating func enlistingFailed() { lifecycle.requestFailed() }

    /// Records the new number.
    ///
    /// - Parameters:
    ///   - held: the seqs of the leases that still hold.
    ///   - isOtherDatabase: whether tracks, seqs and lanes have other numbers than before.
    /// - Returns: the slots, now free, of calls whose lease no longer holds. Their jobs run elsewhere or are done.
    mutating func enlisted(_ number: Int32, held: Set<Int64>, isOtherDatabase: Bool = false) -> [Int] {
        lifecycle.numberGiven(number)
        let lost = slots.running.filter { !held.contains($0.job.lease.seq) }.map(\.slot)
        for slot in lost { free(slot, now: 0) }
        if isOtherDatabase {
            knownTracks = KnownTracks()
            surveyCursor = SurveyCursor()
            lanes = LanePermits()
        }
        lanes.requestAgain()
        finished.removeAll { !held.contains($0.lease.seq) }
        deferred.keep(held)
        writeThrottle.refused.keep(held)
        judging.keep(held)
        pickup.connectionLost()
        widenClaimScope()
        pollSchedule = PollSchedule()
        return lost
    }
}
