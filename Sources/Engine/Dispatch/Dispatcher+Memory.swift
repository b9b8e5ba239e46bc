// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

// Memory: jobs with large bodies wait in their slots until the budget has room, and so do answers. Other jobs go on.
extension Dispatcher {
    /// How many slots a claim may fill, as far as slots and memory allow it. 0 if no track is known to have work.
    var freeToClaim: Int {
        guard claimScope != .nowhere, lifecycle.takesJobs, knownTracks.canVisit, slots.freeCount > reserved else {
            return 0
        }
        return memory.claimable(slots.freeCount - reserved, unwritten: unwritten.bytes)
    }

    /// The bytes of all results that wait to be written.
    var unwritten: MemoryBudget.Unwritten {
        var sum = MemoryBudget.Unwritten()
        sum.add(finished.sizes)
        sum.add(deferred.sizes)
        sum.add(writeThrottle.refused.sizes)
        sum.add(judging.sizes)
        for exchange in exchanges.values {
            if let batch = exchange.batch { sum.add(batch.bytes, largest: batch.largest) }
        }
        return sum
    }

    /// Lets the oldest waiting bodies and answers go on if the budget has room.
    ///
    /// - Parameter answers: waiting answers, the oldest first.
    /// - Returns: how many bytes of their answers these slots may keep from now on.
    mutating func serveMemory(
        _ answers: [MemoryBudget.Waiting], now: UInt64
    ) -> [(slot: Int, room: Int)] {
        let unwritten = unwritten
        waitingBodies.dropEnded(slots)
        let oldest = [answers.first?.since, waitingBodies.oldest].compactMap { $0 }.min()
        memory.looks(oldest: oldest, now: now)
        let grants = answers.compactMap { answer in
            memory.grant(answer, unwritten: unwritten).map { (slot: answer.slot, room: $0) }
        }
        admitBodies(unwritten, now: now)
        return grants
    }

    private mutating func admitBodies(_ unwritten: MemoryBudget.Unwritten, now: UInt64) {
        for waiting in waitingBodies.takeAll() {
            if !memory.fits(waiting.body) {
                callRefused(slot: waiting.entry.slot, Dispatcher.tooLarge(memory.total), now: now)
            } else if worker > 0,
                memory.admitBody(waiting.entry.slot, waiting.body, since: waiting.since, unwritten: unwritten)
            {
                preparations.put(waiting.entry)
            } else {
                waitingBodies.putBack(waiting)
            }
        }
    }

    private static func tooLarge(_ total: Int) -> Verdict {
        Verdict(
            .failed, .tooLarge,
            "the request's body does not fit into the memory of this worker, \(total >> 20) MiB; nothing was sent; start the worker with more --memory"
        )
    }

    /// The jobs of a preparation whose bodies the database returns in slices.
    func sliced(_ number: UInt64) -> [Int64] {
        preparations.entries(number).compactMap { entry in
            let job = slots.job(in: entry.slot, entry.lease)
            return job?.largeBody?.comesInSlices == true ? entry.lease.jobID : nil
        }
    }

    /// Limits the answer of a new call to the memory that it can get, and sets how many bytes it keeps without asking.
    mutating func bound(_ call: inout HTTPCall, slot: Int) {
        let limit = call.limits.maxResponseBytes
        let most = memory.mostAnswer(limit, slot)
        if most < limit {
            call.limits.maxResponseBytes = most
            call.limits.isBoundByMemory = true
        }
        let mayMultiplex = call.mayShareConnection && call.download == nil && call.url.hasPrefix("https:")
        // The sum takes time, and only a call that may multiplex needs it.
        call.mayMultiplex = memory.callStarts(
            slot, mostAnswer: most, mayMultiplex: mayMultiplex, unwritten: mayMultiplex ? unwritten : .init())
        call.answerRoom = call.mayMultiplex ? most : min(most, memory.allowance)
    }
}

extension HTTPCall {
    /// How often its body is in memory while it runs. Parts and forms exist twice, once as libcurl sends them. A
    /// compressed body exists in both forms.
    var bodyCopies: Int {
        switch body {
        case .none: 0
        case .bytes: compressesBody ? 2 : 1
        case .form: compressesBody ? 3 : 2
        case .parts: 2
        }
    }
}
