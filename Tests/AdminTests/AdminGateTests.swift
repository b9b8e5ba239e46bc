// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Admin

/// The hosts that get pages without a token.
struct AdminGateTests {
    @Test(arguments: [
        ("localhost", true), ("localhost:9464", true), ("127.0.0.1:1", true), ("[::1]:9464", true), ("[::1]", true),
        ("evil.example", false), ("[::1]evil.example", false), ("[::1]:9464.evil.example", false),
        ("127.0.0.1:evil.example", false), ("", false),
    ])
    func `without a token only addresses and localhost get pages`(host: String, isAllowed: Bool) {
        var request = AdminRequest(path: "/")
        request.host = host
        #expect((AdminGate(token: nil).refusal(of: request) == nil) == isAllowed)
    }
}
