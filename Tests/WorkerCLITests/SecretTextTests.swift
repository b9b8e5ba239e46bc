// SPDX-License-Identifier: Apache-2.0

import JobModel
import TestSupport
import Testing

@testable import WorkerCLI

struct SecretTextTests {
    @Test(arguments: [
        ("bearer", " t1\n", ["access_token", "t1"]), ("basic", "ada:p:w", ["password", "p:w", "username", "ada"]),
        ("oauth2_refresh_token", "r", ["refresh_token", "r"]),
        ("oauth2_client_credentials", "s", ["client_secret", "s"]),
        (
            "bearer", #" { "access_token" : "a\"\\\u00e9\ud83d\ude00" , "expires_in" : 60 } "#,
            ["access_token", "a\"\\é😀"]
        ),
    ])
    func `a secret is read as plain text or as a JSON object`(kind: String, text: String, pairs: [String]) throws {
        let secret = try SecretText(text, kind: kind)
        #expect(secret.secrets.pairs == pairs)
        #expect(secret.expiresIn == (text.contains("expires_in") ? 60 : nil))
    }

    @Test(arguments: [
        ("bearer", ""), ("basic", "hush"), ("bearer", "{\"hush\""), ("bearer", "{\"a\": 1}"),
        ("bearer", "{\"a\": \"hu\nsh\"}"),
        ("bearer", "hu\nsh"), ("bearer", "{\"a\": \"\\ud800\"}"), ("bearer", "{\"a\": \"\"}"),
        ("bearer", "{\"a\": \"\\u+041\"}"),
        ("bearer", "{\"a\": \"b\"} hush"),
        ("bearer", "{\"a\": {\"b\": \"hush\"}}"),
    ])
    func `an invalid secret is refused without quoting the secret`(kind: String, text: String) {
        let error = #expect(throws: SecretText.Defect.self) { try SecretText(text, kind: kind) }
        #expect(error?.reason.contains("hu") == false)
    }

    @Test func `a secret key file overrides the environment variable, and errors do not show keys`() throws {
        let folder = try TestFolder()
        try folder.write("key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")
        func configuration(_ words: [String], _ key: String?) throws -> RunConfiguration {
            try RunConfiguration(
                Arguments(words, for: RunCommand.spec, environment: key.map { ["POSTRIDER_SECRET_KEY": $0] } ?? [:]))
        }
        let other = "HwECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let fromFile = try configuration(["--secret-key-file", folder.path("key")], other).secretKeys
        #expect(try fromFile != configuration([], other).secretKeys)
        #expect(try configuration([], nil).secretKeys == nil)
        let short = #expect(throws: CommandError.self) { try configuration([], "c2hvcnQ=") }
        #expect(short?.exit == .usage)
        #expect(short?.message.hasPrefix("POSTRIDER_SECRET_KEY: the key has 5 bytes; it needs 32") == true)
        #expect(short?.message.contains("c2hv") == false)
    }
}
