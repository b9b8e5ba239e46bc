// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// `credentials.place` as a list: an API that wants its token in a different place for each kind of body.
struct CredentialPlaceTests {
    @Test func `a token goes to the first listed place that fits the request`() throws {
        let queue = try TestQueue()
        let httpbin = try HttpbinServer()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, place) values
              ('all', 'bearer', '[{"json": "token"}, {"form": "token"}, {"query": "token"}]'),
              ('strict', 'bearer', '[{"json": "token"}]');
            select postrider.log_in(name, '{"access_token": "t"}') from postrider.credentials;
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        func place(_ credential: String, _ body: String, _ value: String) throws -> String {
            let id = try queue.insert(
                "url, method, credential, \(body)", "'\(httpbin.url)/post', 'POST', '\(credential)', \(value)")
            try queue.wait(until: "select finished_at is not null from postrider.job_status where id = \(id)")
            return try queue.text(
                """
                select coalesce(error_code, concat_ws(' ', 'json ' || (result #>> '{json,token}'),
                                                      'form ' || (result #>> '{form,token}'),
                  'query ' || (result #>> '{args,token}')))
                from postrider.job_status where id = \(id)
                """) ?? ""
        }
        #expect(try place("all", "body_json", #"'{"token": "old"}'"#) == "json t")
        #expect(try place("all", "body_json", "'[1]'") == "query t")
        #expect(try place("all", "body_form", #"'{"token": "old", "a": 1}'"#) == "form t")
        #expect(try place("all", "body_parts", #"'[{"name": "a", "content": "b"}]'"#) == "form t")
        #expect(try place("all", "body", "'text'") == "query t")
        #expect(try place("all", "body", "null") == "query t")
        // In a list, a request without a body does not fit json. A single json place gives it a body.
        #expect(try place("strict", "body", "null") == "config")
        try queue.connection.execute(
            "update postrider.credentials set place = '{\"json\": \"token\"}' where name = 'strict'")
        #expect(try place("strict", "body", "null") == "json t")
        #expect(try place("strict", "body_form", #"'{"a": 1}'"#) == "config")
    }
}
