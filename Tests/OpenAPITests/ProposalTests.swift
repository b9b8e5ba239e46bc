// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OpenAPI

/// The service and the credential that are proposed for a document.
struct ProposalTests {
    @Test(arguments: [
        ("{type: http, scheme: bearer}", "(name, kind) values ('s', 'bearer')"),
        ("{type: http, scheme: Basic}", "(name, kind) values ('s', 'basic')"),
        ("{type: apiKey, in: query, name: key}", #"(name, kind, place) values ('s', 'api_key', '{"query": "key"}')"#),
        (
            "{type: oauth2, flows: {clientCredentials: {tokenUrl: 'https://h/t', scopes: {}}}}",
            "(name, kind, token_url, client_id) values ('s', 'oauth2_client_credentials', 'https://h/t', 'YOUR CLIENT ID')"
        ),
    ])
    func `a credential is proposed for the security scheme`(scheme: String, columns: String) throws {
        let api = try ImportTests.api("", components: "securitySchemes: {a: \(scheme)}")
        #expect(
            api.proposal.sql == """
                insert into postrider.credentials \(columns);
                insert into postrider.services (name, base_url, credential) values ('s', 'https://h.example/v1', 's');
                -- then give the secret: worker credential set s
                """)
    }

    @Test(arguments: [
        ("{url: 'https://u:p@h.example/a'}", "https://h.example/a"), ("{url: /v2}", "https://api.example.com/v2"),
        ("{url: 'https://{r}.h', variables: {r: {default: eu}}}", "https://eu.h"), ("{}", "https://api.example.com"),
        ("{url: \"https://h/a b\\e[0m'\"}", "https://h/a%20b%1B[0m'"), ("{url: //h.example}", "https://h.example"),
    ])
    func `the server becomes the URL of the proposed service`(server: String, url: String) throws {
        let yaml = "openapi: 3.1.0\nservers: [\(server)]\n"
        #expect(try ImportedAPI(Array(yaml.utf8), service: "s").proposal.baseURL == url)
    }

    @Test func `the first scheme that the document demands is proposed, and the others are named`() throws {
        let yaml = """
            openapi: 3.0.0
            security: [{c: []}]
            components:
              securitySchemes:
                a: {type: http, scheme: basic}
                b: {type: mutualTLS}
                c: {type: http, scheme: bearer}
            """
        let sql = try ImportedAPI(Array(yaml.utf8), service: "s").proposal.sql
        #expect(sql.hasPrefix("insert into postrider.credentials (name, kind) values ('s', 'bearer');\n"))
        #expect(sql.hasSuffix("\n-- the file also knows a, b"))
    }
}
