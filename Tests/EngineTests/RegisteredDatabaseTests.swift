// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

@testable import Engine

/// The worker's memory of the database that gave it its number.
struct RegisteredDatabaseTests {
    @Test func `the first database is no other one, and neither is the same one again`() {
        var home = RegisteredDatabase()
        let isOther = home.enlisted(in: "a")
        #expect(!isOther)
        home.heard(wal: 7)
        home.heard(wal: 5)
        let isOtherLater = home.enlisted(in: "a")
        #expect(!isOtherLater)
        #expect(home.wal == 7)
    }

    @Test func `another database is one, and its WAL is unknown`() {
        var home = RegisteredDatabase()
        _ = home.enlisted(in: "a")
        home.heard(wal: 7)
        let isOther = home.enlisted(in: "b")
        #expect(isOther)
        #expect(home.wal == 0)
    }

    @Test func `random uuids differ and have their form`() {
        let first = UUIDText.random()
        #expect(first != UUIDText.random())
        #expect(first.wholeMatch(of: /[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}/) != nil)
    }
}
