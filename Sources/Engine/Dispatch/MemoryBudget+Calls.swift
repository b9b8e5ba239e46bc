// SPDX-License-Identifier: Apache-2.0

internal import JobModel

extension MemoryBudget.Unwritten {
    /// The results in these places. A claim needs the sum, so it is made without an array.
    init(_ writes: WriteQueue, _ backoff: FailureBackoff, _ judging: JudgingWork, _ exchanges: ExchangeTable) {
        self.init()
        writes.add(to: &self)
        add(backoff.refused.sizes)
        add(judging.sizes)
        exchanges.add(to: &self)
    }
}

extension MemoryBudget {
    /// Limits the answer of a new call to the memory that it can get, and sets how many bytes it keeps without asking.
    ///
    /// - Parameter unwritten: needed only if the call may multiplex.
    mutating func bound(_ call: inout HTTPCall, slot: Int, unwritten: Unwritten) {
        let limit = call.limits.maxResponseBytes
        let most = mostAnswer(limit, slot)
        if most < limit {
            call.limits.maxResponseBytes = most
            call.limits.isBoundByMemory = true
        }
        call.mayMultiplex = callStarts(
            slot, mostAnswer: most, mayMultiplex: call.couldMultiplex, unwritten: unwritten)
        call.answerRoom = call.mayMultiplex ? most : min(most, allowance)
    }
}

extension HTTPCall {
    /// Whether it may share a connection with other calls, if the memory allows it.
    var couldMultiplex: Bool { mayShareConnection && download == nil && url.hasPrefix("https:") }

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
