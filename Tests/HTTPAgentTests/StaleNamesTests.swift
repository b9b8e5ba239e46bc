// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPAgent

struct StaleNamesTests {
    @Test func `a cached address older than the host's last failure is not used`() {
        var names = StaleNames()
        #expect(names.age(of: "a", now: 100) == 60)
        names.doubt("a", now: 100)
        #expect([100, 101, 103, 159].map { names.age(of: "a", now: $0) } == [1, 1, 3, 59])
        #expect(names.age(of: "b", now: 100) == 60)
        // The name was looked up at 110 without success.
        names.doubt("a", now: 120)
        #expect(names.age(of: "a", now: 125) == 5)
        // After a minute, no address from before the doubt is left.
        #expect(names.age(of: "a", now: 180) == 60)
        // The clock was set back.
        names.doubt("a", now: 200)
        #expect(names.age(of: "a", now: 90) == 1)
    }

    @Test func `if too many names are doubted, all names are looked up again for a minute`() {
        var names = StaleNames()
        for number in 0...1_024 { names.doubt("\(number)", now: 100) }
        #expect(names.age(of: "0", now: 110) == 10 && names.age(of: "1024", now: 110) == 10)
        #expect(names.age(of: "0", now: 160) == 60 && names.age(of: "1", now: 110) == 60)
        #expect(names.age(of: "1024", now: 110) == 10)
    }
}
