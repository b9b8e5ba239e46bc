// SPDX-License-Identifier: Apache-2.0

@testable import JobModel
@testable import SecretSealing
@testable import WebhookSigning
@testable import WorkerCLI

/// Secrets in all forms. The first byte selects the kind of credential.
enum SecretTarget {
    private static let kinds = [
        "bearer", "basic", "api_key", "oauth2_client_credentials", "oauth2_refresh_token", "custom",
    ]

    static func run(_ input: [UInt8]) throws(Finding) {
        if let secrets = Secrets(encoded: input) {
            try expect(Secrets(encoded: secrets.encoded) == secrets, "secrets change when they are encoded again")
        }
        var reader = InputReader(input)
        let kind = kinds[Int(reader.byte()) % kinds.count]
        let text = reader.text()
        do throws(SecretText.Defect) {
            let read = try SecretText(text, kind: kind)
            for value in read.secrets.pairs {
                try? expect(value.utf8.count <= 16_000, "a long secret")
            }
        } catch {
            try checkMessage(error.reason)
        }
        do throws(SecretKeyError) {
            let keys = try SecretKeys(text)
            _ = keys.open(Array(reader.rest), for: "api")
        } catch {
            try checkMessage(error.reason)
        }
        do throws(WebhookKeyError) {
            let keys = try WebhookKeys(text)
            _ = keys.signature(id: "1", time: 1, body: Array(reader.rest))
        } catch {
            try checkMessage(error.reason)
        }
        if let bytes = Base64.decode(text) {
            let letters = text.utf8.filter { $0 != 0x3d }
            let again = Base64.encode(bytes).utf8.filter { $0 != 0x3d }
            try expect(letters.dropLast() == again.dropLast(), "Base64 decodes to other bytes")
        }
        try checkTemplates(text, reader.texts())
    }

    /// A message names no part of a secret: it is plain ASCII of this program.
    private static func checkMessage(_ reason: String) throws(Finding) {
        try expect(reason.utf8.count < 100 && reason.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f }, "a long message")
    }

    private static func checkTemplates(_ template: String, _ texts: [String]) throws(Finding) {
        let secrets = Secrets(pairs: texts)
        let masked = Array(secrets.masked(template).utf8)
        for value in secrets.pairs.enumerated().filter({ $0.offset % 2 == 1 }).map(\.element) {
            guard value.utf8.count > 3, !value.utf8.contains(0x2a) else { continue }
            try expect(masked.firstRange(of: Array(value.utf8)) == nil, "a secret stays in a message")
        }
        var call = HTTPCall(method: .post, url: "https://h/" + template)
        call.headers = [HTTPHeader("X-A", template)]
        call.body = .bytes(Array("{\"a\": \"\(template)\"}".utf8), contentType: "application/json")
        let task = TokenTask(
            credential: "api", version: 1, epoch: 1, sealed: nil, plain: nil, isOAuth: true, clientID: template,
            request: call)
        _ = try? task.call(with: secrets)
    }
}
