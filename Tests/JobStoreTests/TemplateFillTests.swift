// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The text of a filled template at each place, and the values that are refused there.
struct TemplateFillTests {
    /// A column's value and its filled form: the column's text, or the beginning of `code: sentence`.
    struct Case: Sendable {
        var column: String
        var value: String
        var becomes: String

        init(_ column: String, _ value: String, _ becomes: String) {
            self.column = column
            self.value = value
            self.becomes = becomes
        }
    }

    private static let elsewhere = "leads to another scheme, host or port, which is not allowed"

    static let urls: [Case] = [
        Case("url", "/u/{{register.body.id}}", "/u/17"),
        Case("url", "/u/{{ register.status }}?s={{register.body.half}}", "/u/201?s=0.5"),
        Case("url", "/u/{{register.body.name}}/x", "/u/a%2Fb%20c%3F%26%3D%23/x"),
        Case("url", "/u?q={{register.body.name}}&r=1", "/u?q=a%2Fb%20c%3F%26%3D%23&r=1"),
        Case("url", "/u/{{register.body.uni}}", "/u/%C3%A9%E2%82%AC%F0%9F%98%80"),
        Case("url", "/u/{{register.body.percent}}", "/u/%252e%252e%252f"),
        Case("url", "/u/{{register.body.plus}}", "/u/%2B"),
        Case("url", "/u/{{register.body.slashes}}", "/u/%2F%2Fevil.example%2Fx"),
        Case("url", "/{{register.body.slashes}}", "/%2F%2Fevil.example%2Fx"),
        Case("url", "{{register.body.slashes}}/x", "%2F%2Fevil.example%2Fx/x"),
        Case("url", "{{register.body.scheme}}/x", "javascript%3Aalert%281%29/x"),
        Case("url", "/{{register.body.at}}", "/%40evil.example"),
        Case("url", "/{{register.body.backslash}}", "/%5C%5Cevil.example"),
        Case("url", "/u/{{register.body.crlf}}", "/u/x%0D%0AEvil%3A%201"),
        Case("url", "/u/{{register.body.up}}", "/u/..%2F..%2Fadmin"),
        Case("url", "/u/{{register.body.true}}/{{{{x", "/u/true/{{x"),
        Case("url", "/u/{{register.body.template}}", "/u/%7B%7Bregister.status%7D%7D"),
        Case("url", "/u/{{register.body.dots}}/x", "template: url: with {{register.body.dots}} filled a path segment"),
        Case("url", "/u/{{register.body.dot}}", "template: url: with {{register.body.dot}} filled a path segment"),
        Case("url", "/u/.{{register.body.dot}}", "template: url: with {{register.body.dot}} filled a path segment"),
        Case("url", "/u/{{register.body.dot}}{{register.body.dot}}", "template: url: with {{register.body.dot}}"),
        Case("url", "/u/a{{register.body.dots}}", "/u/a.."),
        Case("url", "/u?x={{register.body.dots}}", "/u?x=.."),
        Case("url", "/u/{{register.body.empty}}/x", "template: url: {{register.body.empty}} is empty"),
        Case("url", "{{register.body.empty}}//evil.example/", "template: url: {{register.body.empty}} is empty"),
        Case("url", "/u?x={{register.body.empty}}", "/u?x="),
        Case("url", "/u/{{register.body.null}}", "template: url: {{register.body.null}} is null"),
        Case("url", "/u/{{register.body.nothing}}", "template: url: {{register.body.nothing}} has no value: check"),
        Case("url", "/u/{{register.body.object}}", "template: url: {{register.body.object}} is an object"),
        Case("url", "/u/{{register.body.list}}", "template: url: {{register.body.list}} is a list"),
        Case("url", "https://{{register.body.at}}/x", "template: url: {{register.body.at}} \(elsewhere)"),
        Case("url", "https://h.example:{{register.body.id}}/x", "template: url: {{register.body.id}} \(elsewhere)"),
        Case("url", "{{register.body.id}}://h.example/", "template: url: {{register.body.id}} \(elsewhere)"),
        Case("url", "https://h.example/{{register.body.at}}", "https://h.example/%40evil.example"),
    ]

    /// A URL that is one whole template.
    static let wholes: [Case] = [
        Case("url", "{{register.headers.location}}", "/users/17"),
        Case("url", "{{register.body.path}}", "/v1/users/17?full=1"),
        Case("url", "{{register.body.relative}}", "users/18"),
        Case("url", "{{register.body.up}}", "../../admin"),
        Case("url", "{{register.body.same}}", "/v1/x"),
        Case("url", "{{register.body.bare}}", "/"),
        Case("url", "{{register.body.at}}", "@evil.example"),
        Case("url", "{{register.body.other}}", "template: url: {{register.body.other}} \(elsewhere)"),
        Case("url", "{{register.body.port}}", "template: url: {{register.body.port}} \(elsewhere)"),
        Case("url", "{{register.body.http}}", "template: url: {{register.body.http}} \(elsewhere)"),
        Case("url", "{{register.body.user}}", "template: url: {{register.body.user}} \(elsewhere)"),
        Case("url", "{{register.body.fake}}", "template: url: {{register.body.fake}} \(elsewhere)"),
        Case("url", "{{register.body.dashed}}", "template: url: {{register.body.dashed}} \(elsewhere)"),
        Case("url", "{{register.body.two}}", "template: url: {{register.body.two}} \(elsewhere)"),
        Case("url", "{{register.body.ftp}}", "template: url: {{register.body.ftp}} \(elsewhere)"),
        Case("url", "{{register.body.slashes}}", "template: url: {{register.body.slashes}} \(elsewhere)"),
        Case("url", "{{register.body.scheme}}", "template: url: {{register.body.scheme}} \(elsewhere)"),
        Case("url", "{{register.body.backslash}}", "template: url: {{register.body.backslash}} is neither a path nor"),
        Case("url", "{{register.body.crlf}}", "template: url: {{register.body.crlf}} is neither a path nor"),
        Case("url", "{{register.body.space}}", "template: url: {{register.body.space}} is neither a path nor"),
        Case("url", "{{register.body.uni}}", "template: url: {{register.body.uni}} is neither a path nor"),
        Case("url", "{{register.body.empty}}", "template: url: {{register.body.empty}} is neither a path nor"),
    ]

    static let columns: [Case] = [
        Case("query", #"{"a": "{{register.body.id}}", "b": "n{{register.body.id}}"}"#, #"{"a": 17, "b": "n17"}"#),
        Case("query", #"{"a": "{{register.body.list}}"}"#, #"{"a": [1, "two", false]}"#),
        Case("query", #"{"a": ["{{register.body.true}}", "x"]}"#, #"{"a": [true, "x"]}"#),
        Case("query", #"{"a": "{{register.body.name}}"}"#, ##"{"a": "a/b c?&=#"}"##),
        Case(
            "query", #"{"a": "{{register.body.mixed}}"}"#,
            "template: query.a: {{register.body.mixed}} is a list with null in it, and only texts"),
        Case(
            "query", #"{"a": "{{register.body.deep}}"}"#,
            "template: query.a: {{register.body.deep}} is a list with an object in it, and only texts"),
        Case("query", #"{"a": ["{{register.body.list}}"]}"#, "template: query.a.0: {{register.body.list}} is a list"),
        Case("query", #"{"a": "{{register.body.null}}"}"#, "template: query.a: {{register.body.null}} is null"),
        Case(
            "query", #"{"a": "x{{register.body.object}}"}"#, "template: query.a: {{register.body.object}} is an object"),
        Case(
            "headers", #"{"X-Id": "{{register.body.id}}", "X-B": ["a {{register.body.uni}}"]}"#,
            #"{"X-B": ["a é€😀"], "X-Id": "17"}"#),
        Case("headers", #"{"X": "{{register.headers.X-TAG}}"}"#, #"{"X": "b"}"#),
        Case("headers", #"{"X": "{{register.body.tab}}"}"#, #"{"X": "a\tb"}"#),
        Case(
            "headers", #"{"X": "a {{register.body.crlf}}"}"#,
            "bad_header: headers.X: with {{register.body.crlf}} filled"),
        Case("headers", #"{"X": ["a", "{{register.body.lf}}"]}"#, "bad_header: headers.X.1: with {{register.body.lf}}"),
        Case(
            "headers", #"{"X": "{{register.body.control}}"}"#, "bad_header: headers.X: with {{register.body.control}}"),
        Case(
            "headers", #"{"X": "{{register.body.object}}"}"#,
            "template: headers.X: {{register.body.object}} is an object"),
        Case("headers", #"{"X": "{{register.body.null}}"}"#, "template: headers.X: {{register.body.null}} is null"),
        Case("body_json", #""{{register.body.object}}""#, #"{"k": "v", "n": null}"#),
        Case(
            "body_json", #"{"a": ["{{register.body.null}}", "{{register.body.big}}", "{{register.body.true}}"]}"#,
            #"{"a": [null, 12345678901234567890, true]}"#),
        Case(
            "body_json", #"{"a": " {{register.body.id}}", "b": "{{register.body.object}}!"}"#,
            #"{"a": " 17", "b": "{\"k\": \"v\", \"n\": null}!"}"#),
        Case(
            "body_json", #"{"a": "{{register.body.quote}}", "b": "{{register.body.crlf}}"}"#,
            #"{"a": "\"}],", "b": "x\r\nEvil: 1"}"#),
        Case(
            "body_json", #"{"a": "{{register.body.template}}", "b": "x{{register.body.template}}"}"#,
            #"{"a": "{{register.status}}", "b": "x{{register.status}}"}"#),
        Case(
            "body_json", #"{"{{register.status}}": "{{{{register.status}}"}"#,
            #"{"{{register.status}}": "{{register.status}}"}"#),
        Case(
            "body_json", #"{"a": "x{{register.body.null}}"}"#, "template: body_json.a: {{register.body.null}} is null"),
        Case(
            "body_json", #"{"a": {"b": [0, "{{register.body.no}}"]}}"#,
            "template: body_json.a.b.1: {{register.body.no}} has no value"),
        Case(
            "body_form", #"{"a": "{{register.body.list}}", "b": {"c": "n{{register.body.id}}"}}"#,
            #"{"a": [1, "two", false], "b": {"c": "n17"}}"#),
        Case(
            "body_form", #"{"a": "{{register.body.object}}"}"#,
            "template: body_form.a: {{register.body.object}} is or holds"),
        Case(
            "body_form", #"{"a": "{{register.body.null}}"}"#,
            "template: body_form.a: {{register.body.null}} is or holds null"),
        Case(
            "body_parts",
            #"[{"name": "a", "content": "{{register.body.list}}", "filename": "f{{register.body.id}}.txt"}]"#,
            #"[{"name": "a", "content": "[1, \"two\", false]", "filename": "f17.txt"}]"#),
        Case(
            "body_parts", #"[{"name": "a", "content": "x", "filename": "{{register.body.crlf}}"}]"#,
            "bad_header: body_parts: with its templates filled $[0]: name, filename or type holds a line break"),
        Case(
            "body_parts", #"[{"name": "{{register.body.empty}}", "content": "x"}]"#,
            "template: body_parts: with its templates filled $[0].name is missing"),
    ]

    @Test(arguments: [urls, wholes, columns])
    func `a template's value is encoded for its place or refused`(cases: [Case]) throws {
        let fixture = try TemplateFixture()
        for test in cases {
            let found = try fixture.fill(test.column, test.value)
            let isRefused = test.becomes.hasPrefix("template: ") || test.becomes.hasPrefix("bad_header: ")
            #expect(
                isRefused ? found.hasPrefix(test.becomes) : found == test.becomes,
                "\(test.column) \(test.value) became \(found)")
        }
    }

    @Test(arguments: [nil, "https://api.example.com/v1"])
    func `a whole-URL template may name any server of its service and becomes a path`(base: String?) throws {
        let fixture = try TemplateFixture()
        try fixture.queue.connection.execute(
            """
            set session_replication_role = origin;
            update postrider.services set base_url = \(base.map { "'\($0)'" } ?? "null");
            insert into postrider.servers (service, position, base_url)
            values ('api', 1, 'https://one.example/v1'), ('api', 2, 'http://two.example:81/')
            """)
        let cases = [
            ("https://one.example/x?y=1", "/x?y=1"), ("HTTPS://ONE.example:443", "/"),
            ("http://two.example:81/v1/x", "/v1/x"),
            ("//one.example/x", "/x"), ("//two.example:81/x", "/x"), ("/x", "/x"), ("x", "x"),
            ("//two.example/x", nil), ("http://one.example/x", nil), ("https://one.example.evil/", nil),
            ("//evil.example/x", nil), ("https://one.example//evil.example/x", nil), ("https://u@one.example/", nil),
            ("https://api.example.com/x", base == nil ? nil : "/x"), ("//api.example.com/x", base == nil ? nil : "/x"),
        ]
        for (url, path) in cases {
            try fixture.answer(2, type: "application/json", body: "'{\"to\": \"\(url)\"}'")
            let found = try fixture.fill("url", "{{register.body.to}}")
            #expect(
                found == path
                    ?? "template: url: {{register.body.to}} \(Self.elsewhere); insert a separate job with that service",
                "\(url)")
        }
    }

    @Test func `template errors show no values of answers`() throws {
        let fixture = try TemplateFixture()
        for test in Self.urls + Self.wholes + Self.columns where test.becomes.contains(": ") {
            let found = try fixture.fill(test.column, test.value)
            guard found.hasPrefix("template: ") || found.hasPrefix("bad_header: ") else { continue }
            #expect(!found.contains("evil.example") && !found.contains("Evil"), "\(found)")
        }
    }

    @Test func `template values that are too large or too deep are refused with an error`() throws {
        let fixture = try TemplateFixture()
        try fixture.answer(
            2, type: "application/json",
            body: """
                convert_to(jsonb_build_object('k', repeat('a', 9000), 'm', repeat('b', 600000))::text, 'UTF8')
                """)
        #expect(
            try fixture.fill("url", "/u/{{register.body.k}}").hasPrefix(
                "template: url: {{register.body.k}} is longer than"))
        #expect(
            try fixture.fill("url", "{{register.body.k}}").hasPrefix("template: url: {{register.body.k}} is neither"))
        #expect(try fixture.fill("headers", #"{"X": "{{register.body.k}}"}"#).hasPrefix("bad_header: headers.X: with"))
        #expect(try fixture.fill("body_json", #"["{{register.body.m}}"]"#).utf8.count > 600_000)
        #expect(
            try fixture.fill("body_json", #"["{{register.body.m}}", "{{register.body.m}}"]"#)
                .hasPrefix("template: body_json.1: with its templates filled the column is larger than 1 MB"))
        #expect(
            try fixture.fill("body_json", #"["{{register.body.m}}{{register.body.m}}"]"#)
                .hasPrefix("template: body_json.0: with its templates filled it is larger than 1 MB"))
        try fixture.answer(
            2, type: "application/json", body: #"convert_to('{"g": "' || repeat('c', 17000000) || '"}', 'UTF8')"#)
        #expect(
            try fixture.fill("body_json", #"["{{register.body.g}}"]"#)
                .hasPrefix("template: body_json.0: {{register.body.g}}: the answer of job 2 is larger than 16 MiB"))
        try fixture.answer(
            2, type: "application/json", body: "convert_to(repeat('[', 900000) || repeat(']', 900000), 'UTF8')")
        #expect(
            try fixture.fill("url", "/{{register.body.k}}")
                == "template: url: {{register.body.k}}: the answer of job 2 is JSON that cannot be read: it is nested too deeply; its server has to send valid JSON"
        )
        try fixture.answer(
            2, type: "application/json", body: "convert_to(repeat('[', 3000) || repeat(']', 3000), 'UTF8')")
        #expect(try fixture.fill("body_json", #"{"a": "{{register.body}}"}"#).utf8.count == 6007)
    }
}
