// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// One client attacks while another client's jobs run.
struct IsolationStormTests {
    @Test func `under all attacks at once, another client's jobs are not lost, repeated or long delayed`() throws {
        let seconds = Soak.isOn ? Soak.stormSeconds : 4
        let defects = try IsolationStorm().run(seconds: seconds, phases: Soak.isOn ? max(1, Int(seconds / 240)) : 1)
        #expect(defects == [])
    }
}
