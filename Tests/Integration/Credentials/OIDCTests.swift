// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import PrivateCluster
import TestSupport
import Testing

/// Refreshes at an independent OIDC provider, and statement statistics without secrets.
struct OIDCTests {
    @Test func `refreshes work with an independent OIDC provider until it revokes the tokens`() throws {
        let provider = try OIDCProvider()
        let api = try TokenAPI()
        let queue = try TestQueue()
        let refreshToken = try provider.logIn()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url, client_id)
            values ('ada', 'oauth2_refresh_token', '\(provider.url)/oauth2/token', 'app');
            insert into postrider.services (name, base_url, credential) values ('provider', '\(provider.url)', 'ada');
            """)
        let key = api.folder.path("key")
        let secrets = #"{"refresh_token": "\#(refreshToken)", "client_secret": "s&cret"}"#
        let outcome = try WorkerProcess.run(
            ["credential", "set", "ada", "--secret-key-file", key, "--database", queue.database], input: secrets)
        #expect(outcome.output == "ada active, version 1\n")
        let worker = try api.worker(queue)
        defer { worker.kill() }
        try queue.insert(20, "service, url, response_format", "'provider', '/userinfo', 'json'")
        try queue.waitUntilDone()
        #expect(try queue.states() == "succeeded 20")
        #expect(
            try queue.number("select count(*) from postrider.job_status where result ->> 'sub' = 'ada' and attempt = 1")
                == 20)
        #expect(
            try queue.rows(
                "select version::text, refreshes::text, (expires_at > now())::text from postrider.credential_status")
                == [["2", "1", "true"]])

        let revoke = try queue.insert("method, url", "'POST', '\(provider.url)/users/ada/revoke-tokens'")
        try queue.wait(for: revoke, toBe: "succeeded")
        // The provider answers 400 to an unknown token. So the worker itself must see that this token has expired.
        try queue.connection.execute("update postrider.credentials set expires_at = now() - interval '1 s'")
        let late = try queue.insert("service, url", "'provider', '/userinfo'")
        try queue.wait(for: late, toBe: "failed")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(late)") == "not_logged_in")
        #expect(try queue.text("select state from postrider.credential_status") == "logged_off")
    }

    @Test func `pg_stat_statements contains no secret`() throws {
        let cluster = try PrivateCluster(
            PrivateCluster.Options(settings: [
                "shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track": "all",
                "pg_stat_statements.track_utility": "on",
            ]))
        defer { cluster.remove() }
        let api = try TokenAPI(#"{"expired": ["a1"]}"#)
        let queue = try TestQueue(on: cluster)
        try queue.connection.execute(
            """
            create extension pg_stat_statements;
            insert into postrider.credentials (name, kind, token_url, client_id)
            values ('c', 'oauth2_refresh_token', '\(api.url)/token', 'app');
            """)
        try queue.connection.execute(
            "select postrider.log_in('c', '{\"access_token\": \"a1\", \"refresh_token\": \"r1\", \"client_secret\": \"hushhush\"}')"
        )
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("url, credential", "'\(api.url)/api/x', 'c'")
        try queue.wait(for: id, toBe: "succeeded")
        let plain = try WorkerProcess.run(["credential", "set", "c", "--database", queue.database], input: "hushhush")
        #expect(plain.status == 0)
        #expect(plain.output.contains("stays unsealed until"))
        try queue.wait(until: "select bool_and(plain is null) from postrider_internal.secrets")
        #expect(try queue.number("select count(*) from pg_stat_statements where query ~ 'log_in'") > 0)
        #expect(
            try queue.number(
                "select count(*) from pg_stat_statements where query ~ 'hush' and query !~ 'pg_stat_statements'")
                == 0)
        #expect(!worker.output.contains("hush"))
    }
}
