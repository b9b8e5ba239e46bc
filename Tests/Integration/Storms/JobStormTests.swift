// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Random jobs while workers die, sessions are cut, and users do everything that they may do to jobs.
struct JobStormTests {
    @Test(arguments: Soak.stormSeeds)
    func `random jobs end as their calls say, whatever dies or is done to them meanwhile`(seed: UInt64) throws {
        let storm = try JobStorm(seed: seed, jobs: Soak.count(3000, reduced: 500), deaths: Soak.count(8, reduced: 3))
        try storm.run()
        let defects = try storm.defectsFound()
        #expect(defects == [], "seed \(seed)")
    }
}
