// SPDX-License-Identifier: Apache-2.0

/// Timers by key: a binary heap that knows where each key is, so that changing one is O(log n).
///
/// Times are nanoseconds on `MonotonicClock`. Equal times come out in any order.
public struct Deadlines: Sendable {
    private struct Entry {
        var deadline: UInt64
        var key: UInt64
    }

    private var heap: [Entry] = []
    private var places: [UInt64: Int] = [:]

    /// No timers.
    public init() {}

    /// How many timers run.
    public var count: Int { heap.count }

    /// The next moment at which `popExpired` has something to give.
    public var earliest: UInt64? { heap.first?.deadline }

    /// Starts a timer, or moves the one that has this key.
    public mutating func set(_ key: UInt64, at deadline: UInt64) {
        if let place = places[key] {
            heap[place].deadline = deadline
            settle(place)
        } else {
            heap.append(Entry(deadline: deadline, key: key))
            places[key] = heap.count - 1
            settle(heap.count - 1)
        }
    }

    /// Ends a timer; an unknown key is no error.
    public mutating func cancel(_ key: UInt64) {
        guard let place = places[key] else { return }
        remove(at: place)
    }

    /// The key of one timer whose time has come, earliest first; call it until `nil`.
    public mutating func popExpired(now: UInt64) -> UInt64? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        remove(at: 0)
        return first.key
    }

    private mutating func remove(at place: Int) {
        places[heap[place].key] = nil
        let last = heap.removeLast()
        guard place < heap.count else { return }
        heap[place] = last
        places[last.key] = place
        settle(place)
    }

    /// Moves an entry up or down until its parent is not later and its children are not earlier.
    private mutating func settle(_ start: Int) {
        var place = start
        let entry = heap[place]
        while place > 0, entry.deadline < heap[(place - 1) / 2].deadline {
            put(heap[(place - 1) / 2], at: place)
            place = (place - 1) / 2
        }
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].deadline < heap[child].deadline { child += 1 }
            guard heap[child].deadline < entry.deadline else { break }
            put(heap[child], at: place)
            place = child
        }
        put(entry, at: place)
    }

    private mutating func put(_ entry: Entry, at place: Int) {
        heap[place] = entry
        places[entry.key] = place
    }
}
