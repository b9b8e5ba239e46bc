// SPDX-License-Identifier: Apache-2.0

import JobStore
import Testing

/// The first part of each Idempotency-Key, before and after restores.
struct KeyPrefixesTests {
    @Test func `a job has the prefix of the last restore that it was inserted after`() {
        let prefixes = KeyPrefixes(installation: "i", restores: [(10, "a"), (20, "b")])
        #expect([1, 10, 11, 20, 21].map { prefixes.prefix(of: $0) } == ["i", "i", "a", "a", "b"])
    }

    @Test func `a restore to an earlier state than the restore before takes its jobs over`() {
        let prefixes = KeyPrefixes(installation: "i", restores: [(0, "a"), (0, "b")])
        #expect(prefixes.prefix(of: 1) == "b")
        #expect(KeyPrefixes(installation: "i").prefix(of: 1) == "i")
    }
}
