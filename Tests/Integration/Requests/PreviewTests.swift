// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// `postrider.preview` and `worker preview`: the request before it is sent.
struct PreviewTests {
    private static let words = ["a", "b c", "é", "x/y", "1+1", "%20", "it's", "\"q\"", "{n}", "=&?#", "ü ", "7"]

    /// The spec of a random request to `/anything` below a service, without secrets.
    private static func spec(_ random: inout Randomness) -> String {
        func word() -> String {
            words[Int(random.number(0...UInt64(words.count - 1)))].replacing("\"", with: "\\\"")
        }
        func pairs() -> String {
            (0...random.number(0...3)).map { #""k\#($0) \#(word())": \#(random.chance(30) ? "7" : "\"\(word())\"")"# }
                .joined(separator: ", ")
        }
        let method = ["GET", "POST", "PUT", "PATCH", "DELETE"][Int(random.number(0...4))]
        var keys = [#""service": "echo""#, #""method": "\#(method)""#, #""url": "anything/x%20y?own=1""#]
        if random.chance(60) { keys.append(#""query": {\#(pairs()), "list": ["\#(word())", 2]}"#) }
        if random.chance(50) { keys.append(#""headers": {"X-One": "v1", "X-Two": ["a", "b"], "x-service": "own"}"#) }
        if method != "GET" {
            switch random.number(0...4) {
            case 0: keys.append(#""body_json": {\#(pairs()), "deep": {"n": [1, null, "\#(word())"]}}"#)
            case 1: keys.append(#""body_form": {\#(pairs()), "a": {"b": ["\#(word())", 2]}}"#)
            case 2: keys.append(#""body": "plain \#(word())""#)
            case 3:
                keys.append(
                    #""body_parts": [{"name": "t", "content": "\#(word())"}, "#
                        + #"{"name": "f", "content": "f \#(word())", "filename": "f.txt"}]"#)
            default: break
            }
        }
        return "{\(keys.joined(separator: ", "))}"
    }

    /// The echo of httpbin without the differences between two clients. `$1` is the echo.
    ///
    /// libcurl writes escapes in small letters where it adds arguments to a URL.
    private static let normal = """
        (jsonb_set($1::jsonb, '{headers}', ($1::jsonb -> 'headers') - '{User-Agent,Accept,Accept-Encoding,Host,
          Idempotency-Key,Content-Length,Connection}'::text[]) - 'data'
         || jsonb_build_object('data', case when $1::jsonb -> 'headers' ->> 'Content-Type' like 'multipart/%' then ''
                                       else $1::jsonb ->> 'data' end)
         || jsonb_build_object('url', lower($1::jsonb ->> 'url'), 'type', split_part($1::jsonb -> 'headers' ->> 'Content-Type', ';', 1)))
        #- '{headers,Content-Type}'
        """

    @Test func `fifty random previews equal what the worker sends`() throws {
        let httpbin = try HttpbinServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, allow_private_network, headers, query) values
              ('echo', '\(httpbin.url)/', true, '{"X-Service": "s"}', '{"common": "c", "list": "s"}')
            """)
        let worker = try RunningWorker(queue.database)
        var random = Randomness(seed: 37)
        var jobs: [(id: Int64, spec: String)] = []
        for _ in 1...50 {
            let spec = Self.spec(&random)
            var parameters = PGParameters()
            parameters.append(text: spec)
            jobs.append(
                (try queue.connection.query("select postrider.submit($1::jsonb)", &parameters).int64(0, 0), spec))
        }
        try queue.waitUntilDone()
        for (id, spec) in jobs {
            var parameters = PGParameters()
            parameters.append(text: spec)
            let preview = try queue.connection.query(
                """
                select p.method, p.url, p.body, array_to_string(array(
                         select h.key || ': ' || e.value from jsonb_each(p.headers) h
                          cross join lateral jsonb_array_elements_text(case jsonb_typeof(h.value) when 'array'
                                then h.value else jsonb_build_array(h.value) end) e (value)), E'\\n')
                  from postrider.preview($1::jsonb) p
                """, &parameters)
            var words = ["-s", "-g", "-X", preview.text(0, 0), preview.text(0, 1)]
            let headers = preview.text(0, 3).split(separator: "\n").map(String.init)
            for header in headers { words += ["-H", header] }
            if !headers.contains(where: { $0.lowercased().hasPrefix("content-type:") }) {
                words += ["-H", "Content-Type:"]
            }
            let body = preview.optionalText(0, 2)
            if let body { words += ["--data-binary", body] }
            let echo = try WorkerProcess.run(["/usr/bin/curl"] + words, reading: "").output
            let sent = try queue.text(
                "select convert_from(body, 'UTF8') from postrider.job_status where id = \(id) and state = 'succeeded'")
            let same = queue.areEqual(echo, sent, by: Self.normal)
            #expect(same, "\(spec)\n\(words)\n\(echo)\n\(sent ?? "nothing")")
        }
        _ = worker
    }

    @Test func `secrets are masked, and templates are listed as open`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind) values ('login', 'bearer');
            insert into postrider.services (name, base_url, headers, credential) values
              ('api', 'https://user:word@api.example.com/v1', '{"X-Api-Key": "hidden", "X-Plain": "shown"}', 'login');
            insert into postrider.operations (name, service, arguments, spec) values
              ('send', 'api', '{"to": "string"}', '{"method": "POST", "url": "send", "body_json": {"to": "{{arg.to}}"}}')
            """)
        let spec = #"""
            {"chain": [{"name": "a", "service": "api", "url": "a?api_key=k", "headers": {"X-Auth": "t"}},
                       {"operation": "send", "arguments": {"to": "{{a.body.mail}}"}},
                       {"batch": {"each": "{{a.body.list}}", "do": {"service": "api", "url": "items/{{item.id}}"}}}]}
            """#
        let statement = "select place, method, url, headers::text, body, open::text from postrider.preview('\(spec)')"
        let rows = try queue.rows(statement)
        #expect(rows.map { $0[0] } == ["$.chain[0]", "$.chain[1]", "$.chain[2].batch.do"])
        #expect(rows[0][2] == "https://api.example.com/v1/a?api_key=***")
        #expect(
            rows[0][3]
                == #"{"X-Auth": "***", "X-Plain": "shown", "X-Api-Key": "***", "Authorization": "Bearer ***"}"#)
        #expect(rows[1][4] == #"{"to": "{{a.body.mail}}"}"#)
        #expect(rows[1][5] == #"{"{{a.body.mail}}",Idempotency-Key}"#)
        #expect(rows[2][2] == "https://api.example.com/v1/items/{{item.id}}")
        #expect(try queue.number("select count(*) from postrider.jobs") == 0)

        let client = try TestRole.client.connect(queue)
        let shown = try client.query(statement)
        #expect(shown.text(0, 3).contains(#""X-Plain": "***""#))
    }

    @Test func `the command prints one block for each request, and refuses what submit refuses`() throws {
        let queue = try TestQueue()
        let folder = try TestFolder()
        try folder.write("spec.json", #"{"method": "POST", "url": "http://h/a", "body_json": {"password": "x"}}"#)
        let shown = try WorkerProcess.run(["preview", folder.path("spec.json"), "--database", queue.database])
        #expect(
            shown.output == """
                # $
                POST http://h/a
                Content-Type: application/json

                {"password": "***"}

                # known later: Idempotency-Key

                """)
        try folder.write("spec.json", #"{"url": "ftp://h/"}"#)
        let refused = try WorkerProcess.run(["preview", folder.path("spec.json"), "--database", queue.database])
        #expect(refused.status != 0 && refused.output.contains("$.url: has the scheme ftp"))
    }
}
