// SPDX-License-Identifier: Apache-2.0

/// Rows and specs that are mistakes or attacks.
enum HostileRows {
    private static let secret = HostileInput.secret
    /// A valid URL as an SQL literal.
    private static let good = "'http://h/'"

    /// All rows. The database must refuse each of them.
    static var all: [HostileRow] { urls + headers + bodies + others + specs }

    /// A row of these columns. The error must name `column`. If `column` is nil, the error must name the last column.
    private static func row(_ text: String, _ columns: String, _ values: String, at column: String? = nil) -> HostileRow
    {
        let last = columns.split(separator: ",").last.map { String($0.drop { $0 == " " }) } ?? ""
        return HostileRow(text: text, statement: insert(columns, values), place: "jobs.\(column ?? last): ")
    }

    /// A row with a value outside of its column's type. PostgreSQL refuses it without naming the column.
    private static func untyped(_ text: String, _ columns: String, _ values: String) -> HostileRow {
        HostileRow(text: text, statement: insert(columns, values), place: nil)
    }

    private static func insert(_ columns: String, _ values: String) -> String {
        "insert into postrider.jobs (\(columns)) values (\(values))"
    }

    private static let urls: [HostileRow] = [
        row("a row without a URL", "method", "'GET'", at: "url"), row("an empty URL", "url", "''"),
        row("a URL without a scheme", "url", "'h/x'"), row("ftp://", "url", "'ftp://h/'"),
        row("file:///", "url", "'file:///etc/passwd'"), row("gopher://", "url", "'gopher://h/_a'"),
        row("httpx://", "url", "'httpx://h/'"), row("three slashes", "url", "'http:///x'"),
        row("CR and LF in the URL", "url", "E'http://h/\\r\\nX-Injected: 1'"),
        row("a space in a URL with a password", "url", "'http://me:\(secret)@h/a b'"),
        row("a tab in the URL", "url", "E'http://h/\\t'"), row("DEL in the URL", "url", "E'http://h/\\x7f'"),
        row("a backslash before the host", "url", "E'http://example.com\\\\@127.0.0.1/'"),
        row("two @ in the URL", "url", "'http://a:\(secret)@b@h/'"), row("port 70000", "url", "'http://h:70000/'"),
        row("a URL of 8,009 bytes", "url", "'http://h/' || repeat('a', 8000)"),
        row("a template in the place of the host", "url", "'http://{{a.body}}/'"),
        row("a callback to ftp://", "url, callback_url", "\(good), 'ftp://h/'"),
    ]

    private static let headers: [HostileRow] =
        [
            row(
                "CR and LF in a header", "url, headers",
                "\(good), '{\"Authorization\": \"Bearer \(secret)\\r\\nX-Injected: 1\"}'"),
            row("LF in the name of a header", "url, headers", "\(good), '{\"X\\nX-Injected\": \"\(secret)\"}'"),
            row("a space in the name of a header", "url, headers", "\(good), '{\"X A\": \"\(secret)\"}'"),
            row("a colon in the name of a header", "url, headers", "\(good), '{\"X:\": \"\(secret)\"}'"),
            row("an escape in a header", "url, headers", "\(good), '{\"X-A\": \"\(secret)\\u001b[2J\"}'"),
            row(
                "LF in the second value of a header", "url, headers", "\(good), '{\"X-A\": [\"a\", \"\(secret)\\nb\"]}'"
            ),
            row("a header without a name", "url, headers", "\(good), '{\"\": \"\(secret)\"}'"),
            row("headers in an array", "url, headers", "\(good), '[\"\(secret)\"]'"),
        ]
        + [
            "Host", "content-length", "Transfer-Encoding", "Connection", "Expect", "TE", "Trailer", "Upgrade",
            "Keep-Alive", "Proxy-Authorization", "proxy-connection",
        ].map { row("the header \($0)", "url, headers", "\(good), '{\"\($0)\": \"\(secret)\"}'") }

    private static let bodies: [HostileRow] = [
        row("an unknown method", "url, body, method", "\(good), '\(secret)', 'BREW'"),
        row("CR and LF in the method", "url, method", "\(good), E'GET / HTTP/1.1\\r\\nX-Injected: 1'"),
        row("a method with a space", "url, method", "\(good), 'GET '"),
        row("a body for HEAD", "url, body, method", "\(good), '\(secret)', 'HEAD'", at: "body"),
        row("two bodies", "url, body, body_json", "\(good), '\(secret)', '{}'", at: "body"),
        row("a form in an array", "url, body_form", "\(good), '[\"\(secret)\"]'"),
        row("an argument in an argument", "url, query", "\(good), '{\"a\": {\"b\": \"\(secret)\"}}'"),
        untyped("NUL in a JSON body", "url, body_json", "\(good), '\"\\u0000\"'"),
        untyped("a JSON body that is not JSON", "url, body_json", "\(good), '{'"),
        row("no parts", "url, method, body_parts", "\(good), 'POST', '[]'"),
        row("a file outside the directory as a part", "url, method, body_parts", part("\"file\": \"../a\"")),
        row("an absolute file as a part", "url, method, body_parts", part("\"file\": \"/etc/passwd\"")),
        row("a file behind .. as a part", "url, method, body_parts", part("\"file\": \"a/../../b\"")),
        row(
            "a part longer than it may be", "url, method, body_parts",
            part("\"content\": \"\(secret)\", \"max_bytes\": 1")),
        row(
            "CR and LF in the type of a part", "url, method, body_parts",
            part("\"content\": \"\(secret)\", \"type\": \"a/b\\r\\nX: 1\"")),
        row("a download to a file outside the directory", "url, download_to", "\(good), '../a'"),
        row("a download to an absolute path", "url, download_to", "\(good), '/etc/cron.d/a'"),
        row("a download behind ..", "url, download_to", "\(good), 'a/../../b'"),
        row("LF in the path of a download", "url, download_to", "\(good), E'a\\nb'"),
        row("a download to the name of an unfinished file", "url, download_to", "\(good), 'a.part'"),
    ]

    /// The values of a row with one part, which has these JSON fields.
    private static func part(_ fields: String) -> String { "\(good), 'POST', '[{\"name\": \"a\", \(fields)}]'" }

    private static let others: [HostileRow] = [
        row("priority 1000", "url, priority", "\(good), 1000"), row("priority -101", "url, priority", "\(good), -101"),
        row("no attempts", "url, max_attempts", "\(good), 0"),
        row("a negative timeout", "url, timeout", "\(good), '-1 s'"),
        untyped("a timeout that is not a duration", "url, timeout", "\(good), 'soon'"),
        row("a negative backoff", "url, backoff", "\(good), '{-1 s}'"),
        row("an answer of at most -1 bytes", "url, max_response", "\(good), -1"),
        row("an infinite run_at", "url, run_at", "\(good), 'infinity'"),
        row("an expiry before run_at", "url, run_at, expires_at", "\(good), now() + interval '1 h', now()"),
        row("a parent that does not exist", "url, parent_id", "\(good), 9223372036854775807"),
        row("an empty queue name", "url, queue", "\(good), ''"),
        row("a queue of 201 letters", "url, queue", "\(good), repeat('a', 201)"),
        row("a service that does not exist", "url, service", "'/a', 'no service of this name'"),
        row("a credential that does not exist", "url, credential", "\(good), 'no credential of this name'"),
        row("a function that is not a callback", "url, on_success", "\(good), 'pg_catalog.pg_sleep'"),
        row("an unknown delivery", "url, delivery", "\(good), 'exactly_once'"),
        row("an unknown kind", "url, kind", "\(good), 'cron'"),
        row("an invalid jsonpath", "url, extract", "\(good), '$.a ('"),
        row("a jsonpath with a variable", "url, extract", "\(good), '$.a ? (@ > $x)'"),
        row(
            "a validator of 5,000 levels", "url, validator",
            "\(good), (repeat('{\"a\": ', 5000) || '\"string\"' || repeat('}', 5000))::jsonb"),
        row("a tag of 401 letters", "url, tag", "\(good), repeat('a', 401)"),
    ]

    /// A spec for `submit`. The error must name this place of the spec.
    private static func spec(_ text: String, _ place: String, _ spec: String) -> HostileRow {
        HostileRow(
            text: text + " in a spec", statement: "select postrider.submit('\(spec)'::jsonb)", place: place + ": ")
    }

    private static let specs: [HostileRow] = [
        spec("nothing", "$", "null"), spec("an unknown key", "$.urll", "{\"urll\": \"http://h/\"}"),
        spec("ftp://", "$.url", "{\"url\": \"ftp://h/\"}"),
        spec("a password and a space", "$.url", "{\"url\": \"http://me:\(secret)@h/a b\"}"),
        spec("another role's name", "$.created_by", "{\"url\": \"http://h/\", \"created_by\": \"postgres\"}"),
        spec("an id", "$.id", "{\"url\": \"http://h/\", \"id\": 1}"),
        spec(
            "ftp:// in the second step", "$.chain[1].url",
            "{\"chain\": [{\"url\": \"http://h/\"}, {\"url\": \"ftp://h/\"}]}"),
        spec(
            "CR and LF in a header of a step", "$.chain[0].headers",
            "{\"chain\": [{\"url\": \"http://h/\", \"headers\": {\"X-A\": \"\(secret)\\r\\nX: 1\"}}]}"),
        spec(
            "a template of a step that does not exist", "$.chain[1].url",
            "{\"chain\": [{\"url\": \"http://h/\"}, {\"url\": \"http://h/{{who.body}}\"}]}"),
        spec(
            "a template of a later step", "$.chain[0].url",
            "{\"chain\": [{\"url\": \"http://h/{{b.body}}\"}, {\"name\": \"b\", \"url\": \"http://h/\"}]}"),
        spec(
            "a template that is not closed", "$.chain[1].url",
            "{\"chain\": [{\"name\": \"a\", \"url\": \"http://h/\"}, {\"url\": \"http://h/{{a.body\"}]}"),
        HostileRow(
            text: "5,000 chains, one in the other, in a spec",
            statement:
                "select postrider.submit((repeat('{\"chain\": [', 5000) || '{\"url\": \"http://h/\"}' || repeat(']}', 5000))::jsonb)",
            place: "$.chain[0].chain[0]"),
        HostileRow(
            text: "100,000 brackets in a spec",
            statement: "select postrider.submit((repeat('[', 100000) || repeat(']', 100000))::jsonb)", place: nil),
    ]
}
