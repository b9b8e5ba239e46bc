// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Random jobs while workers die, sessions are cut, and users cancel, retry and reschedule jobs.
struct JobStormTests {
    @Test(arguments: Soak.stormSeeds)
    func `random jobs end as expected while workers die and users change jobs`(seed: UInt64) throws {
        let storm = try JobStorm(seed: seed, jobs: Soak.count(3000, reduced: 500), deaths: Soak.count(8, reduced: 3))
        try storm.run()
        let defects = try storm.defectsFound()
        #expect(defects == [], "seed \(seed)")
    }
}
