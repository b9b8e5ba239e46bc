// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Engine

/// The moments at which a worker returns memory to the system.
struct MemoryTrimTests {
    private var marks = MemoryTrim()

    private mutating func beats(_ count: Int, inFlight: Int = 0) -> [Bool] {
        (0..<count).map { _ in marks.isDue(inFlight: inFlight) }
    }

    @Test mutating func `a worker trims memory once at its first idle heartbeat`() {
        let said = beats(3)
        #expect(said == [true, false, false])
    }

    @Test mutating func `after calls, a worker trims memory after one whole heartbeat without calls`() {
        _ = beats(1)
        marks.claimed()
        let said = beats(3)
        #expect(said == [false, true, false])
    }

    @Test mutating func `a worker does not trim memory while a call is in flight`() {
        marks.claimed()
        let busy = beats(3, inFlight: 1)
        #expect(busy == [false, false, false])
        let idle = beats(2)
        #expect(idle == [true, false])
    }
}
