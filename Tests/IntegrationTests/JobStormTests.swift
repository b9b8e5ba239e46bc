// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Random jobs while workers die, sessions are cut, and people do to them all that one can.
struct JobStormTests {
    private static let cases = Soak.isOn ? Array(UInt64(1)...20) : [1, 2]

    @Test(arguments: Self.cases)
    func `random jobs end as their calls say, whatever dies or is done to them meanwhile`(seed: UInt64) throws {
        let storm = try JobStorm(seed: seed, jobs: Soak.count(3000, reduced: 500), deaths: Soak.count(8, reduced: 3))
        try storm.run()
        let defects = try storm.defectsFound()
        #expect(defects == [], "seed \(seed)")
    }
}
