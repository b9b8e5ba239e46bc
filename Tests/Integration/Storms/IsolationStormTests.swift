// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// One client attacks while another client's jobs run.
struct IsolationStormTests {
    @Test func `all attacks at once lose no job of another client, repeat no call, and delay none for long`() throws {
        let seconds = Soak.isOn ? Soak.stormSeconds : 4
        let defects = try IsolationStorm().run(seconds: seconds, phases: Soak.isOn ? max(1, Int(seconds / 240)) : 1)
        #expect(defects == [])
    }
}
