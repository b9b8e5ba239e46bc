// SPDX-License-Identifier: Apache-2.0

import JobStore
import Testing

/// The first part of each Idempotency-Key, before and after restores.
struct KeyPrefixesTests {
    @Test func `the key prefix of a job comes from the last restore before its INSERT`() {
        let prefixes = KeyPrefixes(installation: "i", restores: [(10, "a"), (20, "b")])
        #expect([1, 10, 11, 20, 21].map { prefixes.prefix(of: $0) } == ["i", "i", "a", "a", "b"])
    }

    @Test func `of two restores to the same id, the later restore gives the key prefix`() {
        let prefixes = KeyPrefixes(installation: "i", restores: [(0, "a"), (0, "b")])
        #expect(prefixes.prefix(of: 1) == "b")
        #expect(KeyPrefixes(installation: "i").prefix(of: 1) == "i")
    }
}
