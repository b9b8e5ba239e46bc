// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// One client attacks, and another one's jobs go on.
struct IsolationStormTests {
    @Test func `all attacks at once lose no job of another client, repeat no call, and delay none for long`() throws {
        let defects = try IsolationStorm().run(seconds: Double(Soak.count(3_600, reduced: 6)))
        #expect(defects == [])
    }
}
