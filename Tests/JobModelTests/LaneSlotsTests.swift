// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import JobModel

/// Slots that are stored as runs must equal slots that are stored one by one.
struct LaneSlotsTests {
    @Test(arguments: UInt64(0)..<50)
    func `slots stored as runs behave like a list of all slot times`(seed: UInt64) {
        var random = Randomness(seed: seed)
        var slots = LaneSlots()
        var list: [UInt64] = []
        var next: UInt64 = 1000
        for _ in 0..<200 {
            switch random.next() % 3 {
            case 0:
                let spacing = random.next() % 50
                let count = Int(random.next() % 8)
                slots.append(first: next, spacing: spacing, count: count)
                for place in 0..<UInt64(count) { list.append(next + place * spacing) }
                next = (list.last ?? next) + random.next() % 30
            case 1:
                let number = Int(random.next() % 12)
                slots.removeFirst(number)
                list.removeFirst(min(number, list.count))
            default:
                let moment = random.next() % (next + 100)
                #expect(slots.count(until: moment) == list.count { $0 <= moment })
                let place = Int(random.next() % 40)
                #expect(slots[place] == (place < list.count ? list[place] : nil))
            }
            #expect(slots.count == list.count)
            #expect(slots.isEmpty == list.isEmpty)
            #expect(slots.first == list.first)
            #expect(slots.last == list.last)
        }
    }
}
