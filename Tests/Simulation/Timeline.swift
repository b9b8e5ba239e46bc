// SPDX-License-Identifier: Apache-2.0

/// The simulated clock and its future events, in nanoseconds. Events of one instant run in the order of their creation.
final class Timeline {
    private struct Event {
        var time: UInt64
        var order: UInt64
        var body: () -> Void
    }

    private(set) var now: UInt64 = 1_000_000_000
    private var heap: [Event] = []
    private var made: UInt64 = 0

    /// Adds an event. A time in the past means now.
    func at(_ time: UInt64, _ body: @escaping () -> Void) {
        made += 1
        heap.append(Event(time: max(time, now), order: made, body: body))
        var child = heap.count - 1
        while child > 0, comesBefore(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Runs all events up to a time, including events that they add.
    func run(until end: UInt64) {
        while let first = heap.first, first.time <= end {
            let last = heap.removeLast()
            if !heap.isEmpty {
                heap[0] = last
                sink()
            }
            now = first.time
            first.body()
        }
        now = max(now, end)
    }

    private func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && comesBefore(child, least) {
                least = child
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private func comesBefore(_ left: Int, _ right: Int) -> Bool {
        (heap[left].time, heap[left].order) < (heap[right].time, heap[right].order)
    }
}

let millisecond: UInt64 = 1_000_000
let second: UInt64 = 1_000_000_000
