// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Answers of a token endpoint, and the state of the credential after them.
struct TokenEndpointTests {
    private func queue(_ api: TokenAPI) throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url, client_id) values ('c', 'oauth2_refresh_token',
                '\(api.url)/token', 'app');
            select postrider.log_in('c', '{"access_token": "a1", "refresh_token": "r1", "client_secret": "hushhush"}');
            """)
        return queue
    }

    private static func settings(_ status: Int, _ text: String, _ type: String = "application/json") -> String {
        let escaped = text.replacing("\"", with: "\\\"")
        return
            #"{"expired": ["a1"], "token_status": \#(status), "token_text": "\#(escaped)", "token_type": "\#(type)"}"#
    }

    @Test(arguments: [
        (400, #"{"error": "unknown_error"}"#, "the token endpoint answered 400 unknown_error"),
        (403, "<html>blocked</html>", "the token endpoint answered 403"),
        (401, #"{"error": {"code": 7}}"#, "the token endpoint answered 401"),
        (
            200, #"{"ok": false, "error": "internal_error"}"#,
            "the token endpoint answered 200 internal_error; the answer has no usable token"
        ),
        (
            200, "error=bad_code&error_description=try+again%21",
            "the token endpoint answered 200 bad_code: try again!; the answer has no usable token"
        ),
        (
            400, #"{"error": "odd", "error_description": "hushhush is no secret of r1"}"#,
            "the token endpoint answered 400 odd: *** is no secret of r1"
        ),
        (503, #"{"error": "server_error"}"#, "the token endpoint answered 503 server_error"),
    ])
    func `an unknown error from the token endpoint does not log off, and the next refresh works`(
        status: Int, text: String, error: String
    ) throws {
        let api = try TokenAPI(Self.settings(status, text))
        let queue = try queue(api)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("url, credential", "'\(api.url)/api/x', 'c'")
        try queue.wait(until: "select state = 'cooldown' from postrider.credential_status")
        #expect(try queue.text("select last_error from postrider.credential_status") == error)
        #expect(!worker.output.contains("hushhush"))
        try api.set(#"{"expired": ["a1"]}"#)
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try queue.number("select refusals from postrider_internal.refreshes") == 0)
    }

    @Test(arguments: [
        (400, #"{"error": "invalid_client"}"#), (200, #"{"error": "invalid_grant", "error_description": "revoked"}"#),
        (403, "error=access_denied"),
    ])
    func `a final error from the token endpoint logs the credential off`(status: Int, text: String) throws {
        let api = try TokenAPI(Self.settings(status, text))
        let queue = try queue(api)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("url, credential", "'\(api.url)/api/x', 'c'")
        try queue.wait(for: id, toBe: "failed")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(id)") == "not_logged_in")
        #expect(api.log("/token").count == 1)
    }

    @Test func `ten refusals in a row over ten minutes without a known reason log off`() throws {
        let api = try TokenAPI(Self.settings(400, "{}"))
        let queue = try queue(api)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        let id = try queue.insert("url, credential, max_attempts", "'\(api.url)/api/x', 'c', 100")
        try queue.wait(until: "select refusals = 1 from postrider_internal.refreshes")
        try queue.connection.execute("update postrider_internal.refreshes set refusals = 8, due_at = now()")
        try queue.wait(until: "select refusals = 9 from postrider_internal.refreshes")
        // Ten refusals within ten minutes are not enough.
        try queue.connection.execute("update postrider_internal.refreshes set due_at = now()")
        try queue.wait(until: "select refusals = 10 from postrider_internal.refreshes")
        #expect(try queue.text("select state from postrider.credentials") == "cooldown")
        try queue.connection.execute(
            "update postrider_internal.refreshes set due_at = now(), refused_since = now() - interval '10 min'")
        try queue.wait(for: id, toBe: "failed")
        #expect(try queue.text("select state from postrider.credential_status") == "logged_off")
    }

    @Test func `a refresh with client_auth post works and reads a form-encoded answer`() throws {
        let api = try TokenAPI(#"{"form": true, "post": true, "expires_in": 3600}"#)
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url, client_id, client_auth)
            values ('c', 'oauth2_client_credentials', '\(api.url)/token', 'app', 'post');
            select postrider.log_in('c', '{"client_secret": "s&cret"}');
            """)
        let worker = try api.worker(queue)
        defer { worker.kill() }
        try queue.wait(for: queue.insert("url, credential", "'\(api.url)/api/x', 'c'"), toBe: "succeeded")
        #expect(api.log == ["POST /token c2 200", "GET /api/x c2 200"])
        #expect(
            try queue.text(
                "select (expires_at between now() + interval '59 min' and now() + interval '1 h')::text from postrider.credentials"
            )
                == "true")
    }

    @Test(arguments: [("none", "client_id,app"), ("post", "client_id,app,client_secret,{{client_secret}}")])
    func `client_auth none sends the client_id, and post also sends the client_secret`(auth: String, fields: String)
        throws
    {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, token_url, client_id, client_auth)
            values ('c', 'oauth2_refresh_token', 'https://h/token', 'app', '\(auth)')
            """)
        let call =
            "select array_to_string(q.form, ',') || coalesce(q.client_id, '') from postrider.credentials c, postrider_internal.refresh_call(c) q"
        #expect(try queue.text(call) == "grant_type,refresh_token,refresh_token,{{refresh_token}},\(fields)")
    }
}
