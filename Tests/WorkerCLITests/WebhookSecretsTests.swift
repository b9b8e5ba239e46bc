// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import WorkerCLI

struct WebhookSecretsTests {
    private func configuration(_ words: [String], _ environment: [String: String]) throws -> RunConfiguration {
        try RunConfiguration(Arguments(words, for: RunCommand.spec, environment: environment))
    }

    @Test func `webhook secrets come from the environment or from a file, and the file wins`() throws {
        let folder = try TestFolder()
        try folder.write("secret", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX\n")
        let variable = ["POSTRIDER_WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
        let fromVariable = try configuration([], variable).webhookKeys
        let words = ["--webhook-secret-file", folder.path("secret")]
        let fromFile = try configuration(words, [:]).webhookKeys
        #expect(fromVariable != nil && fromFile != nil && fromVariable != fromFile)
        #expect(try configuration(words, variable).webhookKeys == fromFile)
        #expect(try configuration([], [:]).webhookKeys == nil)
    }

    @Test func `an error in a webhook secret does not quote the secret`() throws {
        let variable = ["POSTRIDER_WEBHOOK_SECRET": "whsec_c2VjcmV0"]
        let short = #expect(throws: CommandError.self) { try configuration([], variable) }
        #expect(short?.message.hasPrefix("POSTRIDER_WEBHOOK_SECRET: the secret has 6 bytes") == true)
        #expect(short?.message.contains("c2Vj") == false)
        let missing = #expect(throws: CommandError.self) {
            try configuration(["--webhook-secret-file", "/nowhere/x"], [:])
        }
        #expect(missing?.message.contains("cannot be read") == true)
    }

    @Test func `a secret file above 64 KiB is refused and not cut`() throws {
        let folder = try TestFolder()
        try folder.write("large", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX" + String(repeating: " ", count: 65_536))
        let large = #expect(throws: CommandError.self) {
            try configuration(["--webhook-secret-file", folder.path("large")], [:])
        }
        #expect(large?.message.contains("cannot be read: File too large") == true)
    }
}
