// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

@testable import WebhookSigning

struct WebhookKeysTests {
    private let body = [UInt8](#"{"test": 2432232314}"#.utf8)

    @Test func `the signature matches the example of Standard Webhooks`() throws {
        // From the reference implementations of Standard Webhooks.
        let keys = try WebhookKeys("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        let signature = keys.signature(id: "msg_p5jXN8AQM9LWM0D4loKWxJek", time: 1_614_265_330, body: body)
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func `a webhook with two secrets carries a signature of each secret`() throws {
        let first = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let second = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"
        let alone = try [first, second].map { try WebhookKeys($0).signature(id: "a", time: 1, body: body) }
        let both = try WebhookKeys(" \(first)\n\(second) ").signature(id: "a", time: 1, body: body)
        #expect(both == alone.joined(separator: " "))
        #expect(alone[0] != alone[1])
    }

    @Test(arguments: [
        ("", "there is no secret in it"), ("secret", "the secret does not begin with whsec_"),
        ("whsec_", "the secret has 0 bytes; it needs 16 to 256"),
        ("whsec_AAECAwQFBgc=", "the secret has 8 bytes; it needs 16 to 256"),
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_not*base64", "secret 2 is not Base64 after whsec_"),
    ])
    func `an invalid secret is refused with a reason that does not quote it`(text: String, reason: String) {
        #expect(throws: WebhookKeyError(reason: reason)) { try WebhookKeys(text) }
    }
}
