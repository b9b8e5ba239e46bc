// SPDX-License-Identifier: Apache-2.0

/// Spans that wait for the collector, and the batch that is on its way. Pure. Times are monotonic nanoseconds.
///
/// ```
/// add ──► waiting ──nextBatch──► sent: gone
///              ▲                 failed: the same batch again after a wait, dropped after 10 s
///              └─ full: dropped
/// ```
struct SpanQueue {
    /// The most spans that wait, and their most bytes: 4096, 4 MiB.
    static let mostSpans = 4096
    static let mostBytes = 4 << 20
    /// The most spans of one request, and their most bytes: 512, 512 KiB.
    static let mostInBatch = 512
    static let mostBatchBytes = 512 << 10
    /// How long a span waits for others: 0.5 s.
    static let patience: UInt64 = 500_000_000
    /// The first wait after a failure, and the longest one: 1 s, 30 s.
    private static let firstWait: UInt64 = 1_000_000_000
    private static let longestWait: UInt64 = 30_000_000_000
    /// How long a batch is sent again before it is dropped: 10 s, the default timeout of OTLP.
    private static let mostTrying: UInt64 = 10_000_000_000

    private var waiting: [[UInt8]] = []
    private var bytes = 0
    /// When the first of the waiting spans came.
    private var since: UInt64 = 0
    private var batch: [[UInt8]] = []
    private var isSending = false
    /// When the batch was sent first.
    private var firstSent: UInt64 = 0
    private var wait: UInt64 = 0
    private var retryAt: UInt64 = 0
    /// Spans that were dropped since the start.
    private(set) var dropped = 0

    /// Whether another span fits. False counts one as dropped.
    mutating func hasRoom() -> Bool {
        if waiting.count < SpanQueue.mostSpans, bytes < SpanQueue.mostBytes { return true }
        dropped += 1
        return false
    }

    /// Adds a span. Ask `hasRoom` first.
    mutating func add(_ span: [UInt8], now: UInt64) {
        if waiting.isEmpty { since = now }
        waiting.append(span)
        bytes += span.count
    }

    /// Counts spans that were given up before they were made.
    mutating func drop(_ count: Int) { dropped += count }

    /// Whether nothing waits and nothing is on its way.
    var isEmpty: Bool { waiting.isEmpty && batch.isEmpty }

    /// When a batch is due, nil if none is.
    var due: UInt64? {
        if isSending { return nil }
        if !batch.isEmpty { return retryAt }
        guard !waiting.isEmpty else { return nil }
        return max(waiting.count >= SpanQueue.mostInBatch ? since : since + SpanQueue.patience, retryAt)
    }

    /// The batch to send now, nil if none is due. Report its end by `sent`, `refused` or `failed`.
    ///
    /// - Parameter isLast: whether the worker ends, so that waiting spans are not to wait for others.
    mutating func nextBatch(isLast: Bool = false, now: UInt64) -> [[UInt8]]? {
        guard let due, isLast && batch.isEmpty && now >= retryAt || now >= due else { return nil }
        if batch.isEmpty {
            var count = 0
            var size = 0
            while count < min(waiting.count, SpanQueue.mostInBatch), count == 0 || size < SpanQueue.mostBatchBytes {
                size += waiting[count].count
                count += 1
            }
            batch = Array(waiting.prefix(count))
            waiting.removeFirst(count)
            bytes -= size
            since = now
            firstSent = now
        }
        isSending = true
        return batch
    }

    /// Records that the collector has taken the batch.
    mutating func sent() {
        isSending = false
        batch = []
        wait = 0
        retryAt = 0
    }

    /// Records that the collector refuses the batch. It would do so again.
    mutating func refused() {
        dropped += batch.count
        sent()
    }

    /// Records that the collector could not be reached, or asked for a wait.
    ///
    /// - Parameter isLast: whether the worker ends, so that there is no second try.
    mutating func failed(asksFor asked: UInt64? = nil, isLast: Bool = false, now: UInt64) {
        isSending = false
        wait = min(max(wait * 2, SpanQueue.firstWait), SpanQueue.longestWait)
        retryAt = now + max(wait, min(asked ?? 0, SpanQueue.longestWait))
        guard isLast || retryAt > firstSent + SpanQueue.mostTrying else { return }
        dropped += batch.count
        batch = []
    }
}
