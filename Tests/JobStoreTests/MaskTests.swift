// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The masks of secrets in URLs, headers, forms and JSON.
struct MaskTests {
    private func value(_ expression: String, _ argument: String) throws -> String? {
        let queue = try TestQueue(sharedBy: "masks")
        var parameters = PGParameters()
        parameters.append(text: argument)
        return try queue.connection.query("select (\(expression))::text", &parameters).optionalText(0, 0)
    }

    @Test(arguments: [
        "token", "X-Access_Token", "client-secret", "PASSWORD", "new_password", "api-key", "x_api_key", "Signature",
        "X-Amz-Signature", "Authorization", "author", "proxy-auth", "credentials", "Session-Id", "Set-Cookie", "cookie",
        "Ocp-Apim-Subscription-Key", "AWSAccessKeyId", "key", "KEY", "-key_", "sig", "code", "pwd",
    ]) func `a name with a word of a secret is secret`(name: String) throws {
        #expect(try value("postrider_internal.is_secret_name($1)", name) == "true")
    }

    @Test(arguments: ["", "monkey", "keys", "id", "signal", "codes", "pass", "userpwd", "tok-n", "Idempotency-Key"])
    func `other names are not secret`(name: String) throws {
        #expect(try value("postrider_internal.is_secret_name($1)", name) == "false")
    }

    @Test(arguments: [
        (#"{"a": 1, "token": "x"}"#, #"{"a": 1, "token": "***"}"#),
        (#"{"a": [{"pwd": 7}, {"pwd": null}, 8]}"#, #"{"a": [{"pwd": "***"}, {"pwd": null}, 8]}"#),
        (
            #"{"auth": {"user": "u", "ids": [1, true, "x"]}}"#,
            #"{"auth": {"ids": ["***", "***", "***"], "user": "***"}}"#
        ),
        (#"{"hook": "https://u:p@h/x", "to": "a@b.example"}"#, #"{"to": "a@b.example", "hook": "https://u:***@h/x"}"#),
        (#"["https://t0ken@h/", "//u:p@h", "http://h/a@b"]"#, #"["https://***@h/", "//u:***@h", "http://h/a@b"]"#),
        ("null", "null"), ("[]", "[]"), ("{}", "{}"), (#""text""#, #""text""#),
    ]) func `masked_json masks the leaves below secret names and keeps the shape`(json: String, masked: String) throws {
        #expect(try value("postrider_internal.masked_json($1::jsonb)", json) == masked)
    }

    @Test(arguments: [
        (#"{ "a" : 1,"token" :"x\"y" , "b":"token"}"#, #"{ "a" : 1,"token" :"***" , "b":"token"}"#),
        (#"{"code":12,"n":-1.5e3,"pwd":null,"key":true}"#, #"{"code":"***","n":-1.5e3,"pwd":null,"key":"***"}"#),
        (
            #"[{"auth":{"a":[1,"x",{}]},"z":"\u00e9"},"code"]"#,
            #"[{"auth":{"a":["***","***",{}]},"z":"\u00e9"},"code"]"#
        ),
        (#"{"p\u0061ssword": "x"}"#, #"{"p\u0061ssword": "***"}"#),
        (#"{"u": "https://a:b@h/"}"#, #"{"u": "https://a:***@h/"}"#), (#"{"token": "#, "***"),
        ("a=1&api_key=x%20y&b=token", "a=1&api_key=***&b=token"), ("pass%77ord=x", "pass%77ord=***"),
        ("token: no form and no JSON", "token: no form and no JSON"), ("", ""),
        ("<token>x</token>", "<token>x</token>"),
    ]) func `masked_text masks JSON and forms and keeps all other bytes`(text: String, masked: String) throws {
        #expect(try value("postrider_internal.masked_text($1)", text) == masked)
    }

    // PostgreSQL's texts hold no NUL. If this failed, one such job would make `job_status` fail for all readers.
    @Test(arguments: [
        ("http://h/?%00a=1&key=2", "http://h/?%00a=1&key=***"), ("http://h/?%00=&%6bey=2", "http://h/?%00=&%6bey=***"),
        ("http://h/?%%000=1&%ff=2", "http://h/?%%000=1&%ff=2"),
    ]) func `a URL with an encoded NUL is masked`(url: String, masked: String) throws {
        #expect(try value("postrider_internal.url_with_masked_query($1, '{}')", url) == masked)
    }

    @Test func `a large text with a secret word is masked as a whole`() throws {
        #expect(try value("postrider_internal.masked_text(repeat($1, 40000))", "token=x,") == "***")
        #expect(try value("length(postrider_internal.masked_text(repeat($1, 300000)))", "x ") == "600000")
    }
}
