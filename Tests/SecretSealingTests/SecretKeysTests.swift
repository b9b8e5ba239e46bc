// SPDX-License-Identifier: Apache-2.0

import JobModel
import SecretSealing
import Testing

/// The encryption of stored secrets.
struct SecretKeysTests {
    private let one = Base64.encode([UInt8](repeating: 1, count: 32))
    private let two = Base64.encode([UInt8](repeating: 2, count: 32))
    private let secrets = Secrets(pairs: ["refresh_token", "r\u{e9}\"\\", "access_token", "a"])

    @Test func `a sealed secret opens only for its credential and with its key`() throws {
        let keys = try SecretKeys(one)
        let sealed = keys.seal(secrets, for: "api")
        #expect(keys.open(sealed, for: "api") == secrets)
        #expect(keys.open(sealed, for: "apj") == nil)
        #expect(try SecretKeys(two).open(sealed, for: "api") == nil)
        #expect(keys.seal(secrets, for: "api") != sealed)
        for index in sealed.indices {
            var bent = sealed
            bent[index] ^= 1
            #expect(keys.open(bent, for: "api") == nil)
        }
        #expect(keys.open([], for: "api") == nil)
        #expect(keys.open(Array(sealed.dropLast()), for: "api") == nil)
        #expect(!String(decoding: sealed, as: UTF8.self).contains("token"))
    }

    @Test func `a new key in front of the old key seals, and both keys open`() throws {
        let sealed = try SecretKeys(one).seal(secrets, for: "api")
        let both = try SecretKeys("\(two) \n\(one)")
        #expect(both.open(sealed, for: "api") == secrets)
        #expect(try SecretKeys(two).open(both.seal(secrets, for: "api"), for: "api") == secrets)
    }

    @Test(arguments: [
        ("", "there is no key in it"), ("n$", "the key is not Base64"), ("AAAA", "the key has 3 bytes; it needs 32"),
    ])
    func `an invalid key text is refused with a reason that does not quote it`(text: String, reason: String) {
        let error = #expect(throws: SecretKeyError.self) { try SecretKeys(text) }
        #expect(error?.reason == reason)
    }

    @Test func `the description of secrets contains their names and no values`() {
        #expect("\(secrets)" == "Secrets(access_token, refresh_token)")
        #expect(Secrets(encoded: secrets.encoded) == secrets)
        #expect(Secrets(encoded: [0, 0, 0, 9, 1]) == nil)
    }
}
