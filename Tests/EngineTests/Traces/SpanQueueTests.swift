// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Engine

/// Batches of spans on their way to the collector. One second is 1,000,000,000.
struct SpanQueueTests {
    private static let second: UInt64 = 1_000_000_000

    private func filled(_ count: Int, at now: UInt64 = 0) -> SpanQueue {
        var queue = SpanQueue()
        for number in 0..<count where queue.hasRoom() { queue.add([UInt8(number & 255)], now: now) }
        return queue
    }

    @Test func `a span waits half a second for others, and a full batch goes at once`() {
        var queue = filled(3)
        #expect(queue.due == SpanQueue.patience)
        let batch1 = queue.nextBatch(now: SpanQueue.patience - 1)
        #expect(batch1 == nil)
        let batch2 = queue.nextBatch(now: SpanQueue.patience)
        #expect(batch2?.count == 3)
        let batch3 = queue.nextBatch(now: Self.second)
        #expect(batch3 == nil)
        queue.sent()
        #expect(queue.isEmpty)
        #expect(queue.due == nil)
        queue = filled(SpanQueue.mostInBatch + 1)
        let batch4 = queue.nextBatch(now: 0)
        #expect(batch4?.count == SpanQueue.mostInBatch)
        queue.sent()
        let batch5 = queue.nextBatch(isLast: true, now: 0)
        #expect(batch5?.count == 1)
    }

    @Test func `spans beyond the limit are dropped and counted`() {
        let queue = filled(SpanQueue.mostSpans + 5)
        #expect(queue.dropped == 5)
    }

    @Test func `a batch is sent again with growing waits, and dropped after ten seconds`() {
        var queue = filled(2)
        var now = SpanQueue.patience
        var sent: [UInt64] = []
        while queue.dropped == 0, sent.count < 20 {
            if queue.nextBatch(now: now) != nil {
                sent.append(now / Self.second)
                queue.failed(now: now)
            } else {
                now = queue.due ?? now
            }
        }
        #expect(sent == [0, 1, 3, 7])
        #expect(queue.dropped == 2)
        // The next batch waits as well, since the collector is still away.
        let hasRoom = queue.hasRoom()
        #expect(hasRoom)
        queue.add([1], now: now)
        #expect(queue.due == 15 * Self.second + SpanQueue.patience)
        let batch6 = queue.nextBatch(now: 16 * Self.second)
        #expect(batch6?.count == 1)
        queue.sent()
        #expect(queue.isEmpty)
    }

    @Test func `a collector may ask for a longer wait, and a refused batch is dropped`() {
        var queue = filled(1)
        _ = queue.nextBatch(now: Self.second)
        queue.failed(asksFor: 5 * Self.second, now: Self.second)
        #expect(queue.due == 6 * Self.second)
        let batch7 = queue.nextBatch(now: 6 * Self.second)
        #expect(batch7 == [[0]])
        queue.refused()
        #expect(queue.dropped == 1)
        #expect(queue.isEmpty)
    }

    @Test func `a worker that ends tries once`() {
        var queue = filled(1)
        let batch8 = queue.nextBatch(isLast: true, now: 1)
        #expect(batch8?.count == 1)
        queue.failed(isLast: true, now: 2)
        #expect(queue.dropped == 1)
        #expect(queue.isEmpty)
    }
}
