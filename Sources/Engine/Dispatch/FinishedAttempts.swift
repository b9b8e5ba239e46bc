// SPDX-License-Identifier: Apache-2.0

internal import JobStore

/// The bytes of attempts that are not written yet, as a running sum. Pure.
struct AttemptSizes {
    /// Only attempts above 256 KiB count for `largest`. The memory budget always has room to write smaller ones.
    static let largeSize = 256 << 10

    private(set) var bytes = 0
    private(set) var largest = 0
    /// The sizes of large attempts. The memory budget bounds how many there are.
    private var large: [Int] = []

    mutating func add(_ attempt: FinishedAttempt) {
        bytes += attempt.bytes
        guard attempt.bytes > AttemptSizes.largeSize else { return }
        large.append(attempt.bytes)
        largest = max(largest, attempt.bytes)
    }

    mutating func remove(_ attempt: FinishedAttempt) {
        bytes -= attempt.bytes
        guard attempt.bytes > AttemptSizes.largeSize, let place = large.firstIndex(of: attempt.bytes) else { return }
        large.swapAt(place, large.count - 1)
        large.removeLast()
        if attempt.bytes == largest { largest = large.max() ?? 0 }
    }
}

/// Attempts in the order in which they are written, with their sizes. Pure.
struct FinishedAttempts: RandomAccessCollection, MutableCollection {
    private var items: [FinishedAttempt] = []
    private(set) var sizes = AttemptSizes()

    var startIndex: Int { items.startIndex }
    var endIndex: Int { items.endIndex }

    /// The size of an attempt never changes, so an attempt may be replaced only by a changed copy of itself.
    subscript(place: Int) -> FinishedAttempt {
        _read { yield items[place] }
        _modify { yield &items[place] }
    }

    mutating func append(_ attempt: consuming FinishedAttempt) {
        sizes.add(attempt)
        items.append(attempt)
    }

    mutating func append(contentsOf attempts: [FinishedAttempt]) {
        for attempt in attempts { append(attempt) }
    }

    mutating func insertFirst(_ attempts: [FinishedAttempt]) {
        items.insert(contentsOf: attempts, at: 0)
        for attempt in attempts { sizes.add(attempt) }
    }

    @discardableResult
    mutating func removeFirst() -> FinishedAttempt {
        let attempt = items.removeFirst()
        sizes.remove(attempt)
        return attempt
    }

    mutating func removeFirst(_ count: Int) {
        for attempt in items.prefix(count) { sizes.remove(attempt) }
        items.removeFirst(count)
    }

    /// Removes all attempts and returns them.
    mutating func takeAll() -> [FinishedAttempt] {
        var taken: [FinishedAttempt] = []
        swap(&taken, &items)
        items.reserveCapacity(taken.count)
        sizes = AttemptSizes()
        return taken
    }

    mutating func removeAll(where isGone: (FinishedAttempt) -> Bool) {
        var sizes = sizes
        items.removeAll { attempt in
            guard isGone(attempt) else { return false }
            sizes.remove(attempt)
            return true
        }
        self.sizes = sizes
    }
}
