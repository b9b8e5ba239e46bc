// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

/// The places in a call that carry its secret.
struct CredentialUseTests {
    private func call(_ url: String, _ place: CredentialUse.Place, _ secrets: [String], isBasic: Bool = false)
        -> HTTPCall
    {
        var call = HTTPCall(url: url)
        let use = CredentialUse(name: "c", version: 1, isBasic: isBasic, sealed: nil, plain: nil, place: place)
        #expect(call.logIn(with: use, Secrets(pairs: secrets)) == nil)
        return call
    }

    @Test(arguments: [
        ("http://h/a", "http://h/a"), ("http://h/a?key=old", "http://h/a"),
        ("http://h/a?b=1&key=old&c", "http://h/a?b=1&c"),
        ("http://h/a?%6bey=old&keys=1#key=x", "http://h/a?keys=1#key=x"), ("http://h/a?key#f", "http://h/a#f"),
    ])
    func `the secret replaces a query argument of the same name in the URL`(url: String, expected: String) {
        let call = call(url, .query("key"), ["access_token", "new"])
        #expect(call.url == expected)
        #expect(call.query.map { "\($0.name)=\($0.value)" } == ["key=new"])
    }

    @Test func `a user with an empty password gives a Basic authorization header`() {
        let call = call(
            "http://h/", .header("Authorization", prefix: "Basic "), ["username", "key", "password", ""], isBasic: true)
        #expect(call.headers == [HTTPHeader("Authorization", "Basic a2V5Og==")])
    }
}
