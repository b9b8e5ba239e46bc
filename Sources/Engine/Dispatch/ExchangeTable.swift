// SPDX-License-Identifier: Apache-2.0

internal import JobStore

/// The exchanges without an answer, by number. Pure.
struct ExchangeTable {
    private var exchanges: [UInt64: Exchange] = [:]

    var isEmpty: Bool { exchanges.isEmpty }
    var count: Int { exchanges.count }
    var numbers: [UInt64] { Array(exchanges.keys) }

    /// Slots that claims under way may fill.
    var reserved: Int { exchanges.values.reduce(0) { $0 + ($1.claim?.limit ?? 0) } }

    /// The batches under way.
    var batches: [FinishBatch] { exchanges.values.compactMap(\.batch) }

    /// Adds the sizes of the batches under way.
    func add(to sum: inout MemoryBudget.Unwritten) {
        for exchange in exchanges.values {
            if let batch = exchange.batch { sum.add(batch.bytes, largest: batch.largest) }
        }
    }

    /// Whether a batch is under way.
    var isWriting: Bool { exchanges.values.contains { $0.batch != nil } }

    func batch(_ number: UInt64) -> FinishBatch? { exchanges[number]?.batch }

    mutating func put(_ exchange: Exchange, _ number: UInt64) { exchanges[number] = exchange }

    /// Removes an exchange that was taken back.
    mutating func remove(_ number: UInt64) -> Exchange? { exchanges.removeValue(forKey: number) }

    /// Removes a claim that was answered. Its batch stays.
    mutating func removeClaim(_ number: UInt64) -> Exchange.Claim? {
        guard let exchange = exchanges[number], let claim = exchange.claim else { return nil }
        exchanges[number]?.claim = nil
        if exchange.batch == nil { exchanges[number] = nil }
        return claim
    }

    /// Removes a batch that was answered. Its claim stays.
    mutating func removeBatch(_ number: UInt64) -> (batch: FinishBatch, hasClaim: Bool)? {
        guard let exchange = exchanges[number], let batch = exchange.batch else { return nil }
        exchanges[number]?.batch = nil
        if exchange.claim == nil { exchanges[number] = nil }
        return (batch, exchange.claim != nil)
    }

    /// Records a notification about jobs. The empty answer of a claim under way does not prove that none wait.
    mutating func outdateClaims() {
        for number in exchanges.keys { exchanges[number]?.claim?.isOutdated = true }
    }
}
