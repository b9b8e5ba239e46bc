// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

@testable import Engine

/// The worker's memory of the database that gave it its number.
struct RegisteredDatabaseTests {
    @Test func `the first database and the same database again do not count as a change`() {
        var home = RegisteredDatabase()
        let isOther = home.enlisted(in: "a")
        #expect(!isOther)
        home.heard(wal: 7)
        home.heard(wal: 5)
        let isOtherLater = home.enlisted(in: "a")
        #expect(!isOtherLater)
        #expect(home.wal == 7)
    }

    @Test func `a worker that enlists in another database notices it and resets the WAL position`() {
        var home = RegisteredDatabase()
        _ = home.enlisted(in: "a")
        home.heard(wal: 7)
        let isOther = home.enlisted(in: "b")
        #expect(isOther)
        #expect(home.wal == 0)
    }

    @Test func `random UUIDs differ and have the form of version 4`() {
        let first = UUIDText.random()
        #expect(first != UUIDText.random())
        #expect(first.wholeMatch(of: /[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}/) != nil)
    }
}
