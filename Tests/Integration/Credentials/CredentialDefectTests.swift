// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Credentials and secrets that cannot work.
struct CredentialDefectTests {
    @Test(arguments: [
        ("name, kind", "'', 'bearer'", "name"), ("name, kind", "'a', 'oauth'", "kind"),
        ("name, kind", "'a', null", "kind"),
        ("name, kind, place", "'a', 'bearer', '{\"header\": \"Host\"}'", "place"),
        ("name, kind, place", "'a', 'bearer', '{\"query\": \"a\", \"json\": \"b\"}'", "place"),
        ("name, kind, place", "'a', 'basic', '{\"query\": \"a\"}'", "place"),
        ("name, kind, place", "'a', 'bearer', '[]'", "place"), ("name, kind, place", "'a', 'bearer', '[1]'", "place"),
        ("name, kind, place", "'a', 'basic', '[{\"header\": \"A\"}, {\"form\": \"a\"}]'", "place"),
        ("name, kind, place", "'a', 'bearer', '[{\"json\": \"a\"}, {\"form\": \"\"}]'", "place"),
        ("name, kind", "'none', 'bearer'", "name"), ("name, kind", "'postrider.a', 'bearer'", "name"),
        ("name, kind, client_auth", "'a', 'bearer', 'post'", "client_auth"),
        ("name, kind, token_url, client_auth", "'a', 'oauth2_refresh_token', 'https://h/t', 'post'", "client_id"),
        ("name, kind, token_url, client_auth", "'a', 'oauth2_refresh_token', 'https://h/t', 'jwt'", "client_auth"),
        ("name, kind", "'a', 'oauth2_refresh_token'", "token_url"),
        ("name, kind, token_url", "'a', 'oauth2_client_credentials', 'https://h/t'", "client_id"),
        ("name, kind, token_url", "'a', 'oauth2_refresh_token', 'ftp://h/t'", "token_url"),
        ("name, kind", "'a', 'custom'", "refresh"),
        ("name, kind, refresh", "'a', 'custom', '{\"url\": \"https://{{h}}/\", \"access_token\": \"$.a\"}'", "refresh"),
        ("name, kind, refresh", "'a', 'custom', '{\"url\": \"https://h/\", \"access_token\": \"$.\"}'", "refresh"),
        ("name, kind, refresh", "'a', 'custom', '{\"url\": \"https://h/\", \"access_token\": \"$.**\"}'", "refresh"),
        (
            "name, kind, refresh", "'a', 'custom', '{\"url\": \"https://h/{{a b}}\", \"access_token\": \"$.a\"}'",
            "refresh"
        ),
        ("name, kind, allowed_origins", "'a', 'bearer', '{https://h/path}'", "allowed_origins"),
        ("name, kind, expired_statuses", "'a', 'bearer', '{}'", "expired_statuses"),
        ("name, kind, expired_statuses", "'a', 'bearer', '{[200,402)}'", "expired_statuses"),
        ("name, kind, state", "'a', 'bearer', 'asleep'", "state"),
        ("name, kind, place", "'a', 'bearer', '{\"header\": \"User-Agent\"}'", "place"),
        ("name, kind, expires_at", "'a', 'bearer', 'infinity'", "expires_at"),
        ("name, kind, token_url", "'a', 'oauth2_refresh_token', 'https://me:pass@h/t'", "token_url"),
        (
            "name, kind, refresh",
            "'a', 'custom', '{\"url\": \"https://h/\", \"access_token\": \"$.a\", \"body_form\": [1]}'", "refresh"
        ),
        ("name, kind, refresh", "'a', 'custom', '{\"headers\": {}, \"access_token\": \"$.a\"}'", "refresh"),
    ])
    func `a credential with a bad column is refused with that column and a hint`(
        columns: String, values: String, named: String
    ) throws {
        let queue = try TestQueue(sharedBy: #function)
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("insert into postrider.credentials (\(columns)) values (\(values))")
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("credentials.\(named):"))
        #expect(error?.hint != nil)
    }

    @Test func `errors about secrets and credential names contain no secret`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.credentials (name, kind) values ('a', 'bearer'), ('b', 'basic')")
        for statement in [
            "select postrider.log_in('a', '{\"access_token\": \"hush\\n\"}')",
            "select postrider.log_in('a', '{\"hush\": 1}')",
            "select postrider.log_in('b', '{\"password\": \"hush\"}')", "select postrider.log_in('a', '\"hush\"')",
            "select postrider.log_in('a', '{\"access_token\": [\"hush\"]}')",
            "select postrider.log_in('c', '{\"access_token\": \"hush\"}')",
            "select postrider.log_in('a', '{\"access_token\": \"t\", \"expires_in\": \"hush\"}')",
            "insert into postrider.jobs (url, credential) values ('http://h/', 'c')",
            "insert into postrider.jobs (url, login_required) values ('http://h/', true)",
            "insert into postrider.services (name, credential) values ('s', 'c')",
            "update postrider.credentials set name = 'd' where name = 'a'",
            "select postrider.log_in('b', '{\"username\": \"hush:x\", \"password\": \"p\"}')",
        ] {
            let error = #expect(throws: PGError.self) { try queue.connection.execute(statement) }
            #expect(error?.sqlState?.rawValue == "PR001", "\(statement)")
            let shown = "\(error?.message ?? "") \(error?.detail ?? "") \(error?.hint ?? "")"
            #expect(!shown.contains("hush") || statement.contains("\"hush\": 1"), "\(shown)")
            #expect(error?.hint != nil)
        }
    }

    @Test func `kind and version cannot change during a login, and a manual active state is no login`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url) values ('c', 'oauth2_refresh_token',
                'http://h/token');
            select postrider.log_in('c', '{"refresh_token": "r"}')
            """)
        for (column, change) in [("kind", "kind = 'basic', token_url = null"), ("version", "version = 0")] {
            let error = #expect(throws: PGError.self) {
                try queue.connection.execute("update postrider.credentials set \(change)")
            }
            #expect("\(error.map { "\($0)" } ?? "")".contains("credentials.\(column):"))
            #expect(error?.hint != nil)
        }
        try queue.connection.execute(
            "select postrider.log_out('c'); update postrider.credentials set state = 'active'")
        #expect(try queue.text("select code from postrider_internal.decide_credential_step('c')") == "not_logged_in")
        try queue.connection.execute(
            "select postrider.log_out('c'); update postrider.credentials set kind = 'bearer', token_url = null")
    }
}
