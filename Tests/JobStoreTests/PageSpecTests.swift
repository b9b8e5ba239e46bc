// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The `paginate` values that an INSERT refuses, and the references to a next page.
struct PageSpecTests {
    private static let shared = Result { try TestQueue.makeDatabase() }

    private static func database() throws -> PGConnection { try PGConnection(shared.get()) }

    @Test(
        arguments: [
            ("[]", "$ must be an object"), ("{}", "$.style is missing"),
            (#"{"style": "pages", "param": "p"}"#, "$.style is not a style"),
            (#"{"style": 1}"#, "$.style is not a style"),
            (#"{"style": null, "param": "p"}"#, "$.style is not a style"),
            (#"{"style": "page"}"#, "$.param is missing"),
            (#"{"style": "page", "param": ""}"#, "$.param is not the name"),
            (#"{"style": "page", "param": 7}"#, "$.param is not the name"),
            (#"{"style": "cursor", "param": "c"}"#, "$.next is missing"),
            (#"{"style": "link", "param": "c"}"#, "$.param is not for style link"),
            (#"{"style": "link", "start": 1}"#, "$.start is not"),
            (#"{"style": "link", "sise": 1}"#, "$.sise is not a key"), (#"{"style": "link", "a\nb": 1}"#, "$.\"a"),
            (#"{"style": "link", "size": 0}"#, "$.size is not"), (#"{"style": "link", "size": -1}"#, "$.size is not"),
            (#"{"style": "link", "size": "10"}"#, "$.size is not"),
            (#"{"style": "link", "size": 1.5}"#, "$.size is not"),
            (#"{"style": "link", "size": 1e30}"#, "$.size is not"),
            (#"{"style": "link", "size_param": "limit"}"#, "$.size is missing"),
            (#"{"style": "page", "param": "p", "size_param": "p", "size": 3}"#, "$.size_param is the same"),
            (#"{"style": "page", "param": "p", "start": "1"}"#, "$.start is not a whole number"),
            (#"{"style": "page", "param": "p", "start": -1}"#, "$.start is not a whole number"),
            (#"{"style": "cursor", "param": "p", "next": "$.n", "start": true}"#, "$.start is not a cursor"),
            (#"{"style": "link", "items": "$.["}"#, "$.items is not a jsonpath"),
            (#"{"style": "link", "items": "$x"}"#, "$.items uses a variable"),
            (#"{"style": "link", "next": 1}"#, "$.next is not a jsonpath"),
            (#"{"style": "link", "max_pages": 0}"#, "$.max_pages is not"),
            (#"{"style": "link", "max_pages": 10001}"#, "$.max_pages is not"),
            (#"{"style": "link", "on_limit": "go"}"#, "$.on_limit is neither"),
            (#"{"style": "link", "in": "body"}"#, "$.in is not for style link"),
            (#"{"style": "page", "param": "p", "in": "form"}"#, "$.in is not a place"),
            (#"{"style": "page", "param": "p", "in": "body"}"#, "$.in is body, and the job has no body_json"),
            (#"{"style": "page", "param": "p q", "in": "header"}"#, "$.param is not the name of a header"),
            (#"{"style": "page", "param": "Host", "in": "header"}"#, "$.param is not the name of a header"),
            (
                #"{"style": "page", "param": "p", "in": "header", "size_param": "proxy-x", "size": 2}"#,
                "$.size_param is not the name of a header"
            ),
            (#"{"style": "page", "param": "x-OWN", "in": "header"}"#, "sets a header that headers has already"),
            (
                #"{"style": "cursor", "param": "p", "next": "$.n", "in": "header", "start": "a\nb"}"#,
                "$.start is not one line"
            ),
            (#"{"style": "link", "next": "header:"}"#, "$.next is not the name of a header"),
            (#"{"style": "link", "next": "header:a b"}"#, "$.next is not the name of a header"),
            (#"{"style": "link", "end_statuses": 404}"#, "$.end_statuses is not a list"),
            (#"{"style": "link", "end_statuses": []}"#, "$.end_statuses is not a list"),
            (#"{"style": "link", "end_statuses": ["404"]}"#, "$.end_statuses is not a list"),
            (#"{"style": "link", "end_statuses": [404, 200]}"#, "$.end_statuses is not a list"),
            (#"{"style": "link", "end_statuses": [429]}"#, "$.end_statuses is not a list"),
            (#"{"style": "page", "param": "q"}"#, "sets an argument that url or query has already"),
            (#"{"style": "page", "param": "r"}"#, "sets an argument that url or query has already"),
            (#"{"style": "page", "param": "s t"}"#, "sets an argument that url or query has already"),
            (
                #"{"style": "link", "size_param": "ü", "size": 9}"#,
                "sets an argument that url or query has already"
            ),
        ])
    func `an invalid paginate is refused with the JSON path`(spec: String, reason: String) throws {
        try expectRefusal(
            "url, query, headers, paginate",
            "'http://h/?q=1&s+t=2&%C3%BC=3#?v=4', '{\"r\": 1}', '{\"X-Own\": \"1\"}', $x$\(spec)$x$",
            "jobs.paginate: \(reason)")
    }

    @Test(
        arguments: [
            ("method", "'HEAD'", "needs items"), ("download_to", "'a.csv'", "needs the answers"),
            ("cache_ttl", "'1 min'", "cannot be used with cache_ttl"), ("response_format", "'xml'", "is for JSON"),
            ("result_type", "'object'", "gives a list"), ("extract", "'$.a'", "$.items and extract"),
        ])
    func `paginate is refused together with columns that it excludes`(column: String, value: String, reason: String)
        throws
    {
        try expectRefusal(
            "url, paginate, \(column)", "'http://h/', '{\"style\": \"link\", \"items\": \"$.a\"}', \(value)",
            "jobs.paginate: \(reason)")
    }

    @Test(
        arguments: [
            ("{}", "variables.after", nil), (#"{"variables": null}"#, "$.variables.after", nil),
            (#"{"variables": {"after": null}}"#, #"$."variables"."after""#, nil), ("[{}]", "$[0].after", nil),
            ("{}", #"$."page-token""#, nil), ("{}", "page-token", nil),
            (#"{"variables": {"after": "x"}}"#, "variables.after", "sets a value that body_json has already"),
            (#"{"variables": "x"}"#, "variables.after", "has no place in body_json: variables is a string"),
            (#"{"variables": "{{a.body}}"}"#, "variables.after", "has no place in body_json: variables is a string"),
            ("[]", "$[0].after", "has no place in body_json: it is a list without that element"),
            ("{}", "list[0].after", "has no place in body_json: it has no list list"),
            ("[1]", "after", "has no place in body_json: it is a list without that element"),
            ("{}", "$.variables[*]", "is not the path of a key"), ("{}", "$", "is not the path of a key"),
            ("{}", "$.a ? (@ > 1)", "is not the path of a key"), ("{}", "a..b", "is not the path of a key"),
            ("{}", "a b", "is not the path of a key"),
        ] as [(String, String, String?)])
    func `param in a body must be the path of a free key`(body: String, param: String, defect: String?) throws {
        let row = try Self.database().query(
            """
            select d.reason from postrider_internal.page_defect(jsonb_populate_record(null::postrider.jobs,
                jsonb_build_object(
              'kind', 'request', 'method', 'POST', 'url', 'http://h/', 'body_json', $x$\(body)$x$::jsonb, 'paginate',
              jsonb_build_object('style', 'page', 'in', 'body', 'param', $x$\(param)$x$)))) d
            """)
        #expect(row.optionalText(0, 0) == defect.map { "$.param " + $0 })
    }

    @Test(
        arguments: [
            ("https://h/a", "http://h/b", "https://h/b"), ("https://h/a", "HTTP://u:p@h:80/b", "https://h/b"),
            ("http://h/a", "https://h/b", "https://h/b"), ("https://h:8443/a", "http://h:8443/b", nil),
            ("https://h/a", "http://h:8080/b", nil), ("https://h/a", "http://i/b", nil),
            ("http://h:8080/a", "https://h/b", nil), ("https://[::1]/a", "http://[::1]/b", "https://[::1]/b"),
            ("https://h/a", "ftp://h/b", nil),
        ] as [(String, String, String?)])
    func `a next link between http and https of one host is followed by https`(
        url: String, link: String, next: String?
    ) throws {
        let row = try Self.database().query(
            """
            select n.target, n.code from postrider_internal.page_next(jsonb_populate_record(null::postrider.jobs,
                jsonb_build_object(
              'url', '\(url)', 'paginate', '{"style": "link"}'::jsonb)), null, null, 1,
              convert_to('link: <\(link)>; rel=next' || chr(10), 'UTF8'), '[]', 'utf-8', null) n
            """)
        #expect(row.optionalText(0, 0) == next)
        #expect(row.optionalText(0, 1) == (next == nil ? "denied_redirect" : nil))
    }

    @Test(
        arguments: [
            ("http://h", "https://h/a", true), ("http://h:80/v1", "https://H:443/a", true),
            ("https://h", "http://h/a", false), ("http://h:8080", "https://h/a", false),
            ("http://h", "https://h:8443/a", false), ("http://h", "https://i/a", false),
        ])
    func `a service with an http base URL also applies to the https origin`(
        base: String, url: String, isOwn: Bool
    ) throws {
        let service =
            #"jsonb_populate_record(null::postrider.services, '{"name": "s", "base_url": "\#(base)", "#
            + #""apply_to_absolute": false, "query": {"key": "s3cret"}}')"#
        let job = #"jsonb_populate_record(null::postrider.jobs, '{"url": "\#(url)", "paginate": {"style": "link"}}')"#
        let row = try Self.database().query(
            """
            select postrider_internal.service_applies('\(url)', \(service)),
                   postrider_internal.can_carry_credential(null::postrider.credentials, \(job), \(service), '\(url)', 'release'),
                   (postrider_internal.page_next(\(job), \(service), null, 1,
                     convert_to('link: <?key=s3cret&p=2>; rel=next' || chr(10), 'UTF8'), '[]', 'utf-8', null)).next
            """)
        #expect(row.bool(0, 0) == isOwn && row.bool(0, 1) == isOwn)
        #expect(row.text(0, 2) == url + (isOwn ? "?p=2" : "?key=s3cret&p=2"))
    }

    private func expectRefusal(_ columns: String, _ values: String, _ message: String) throws {
        let error = #expect(throws: PGError.self) {
            try Self.database().execute("insert into postrider.jobs (\(columns)) values (\(values))")
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains(message), "\(text)")
    }

    @Test(
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
            ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."),
            ("./../g", "http://a/b/g"), ("g/../h", "http://a/b/c/h"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("https://x/y?z", "https://x/y?z"), (" ?a=b c&d=é ", "http://a/b/c/d;p?a=b%20c&d=%C3%A9"),
        ])
    func `url_resolve resolves references by RFC 3986`(reference: String, expected: String) throws {
        let row = try Self.database().query(
            "select postrider_internal.url_resolve('http://a/b/c/d;p?q', $x$\(reference)$x$)")
        #expect(row.text(0, 0) == expected)
    }

    @Test func `url_resolve treats a base without a path as the root path`() throws {
        #expect(
            try Self.database().query("select postrider_internal.url_resolve('http://a', 'g')").text(0, 0)
                == "http://a/g")
    }

    @Test(
        arguments: [
            ("link: <http://h/2>; rel=\"next\"", "http://h/2"), ("link: <?p=2>;rel=next", "?p=2"),
            ("link: </2> ; REL = \"NEXT\"", "/2"), ("link: <a>; rel=\"prev\", <b>; rel=\"last next\"", "b"),
            ("link: <a>; rel=prev\nlink: <b>; rel=next", "b"), ("link: <a,b;c>; rel=next", "a,b;c"),
            ("link: <a>; title=\"x, <z>; rel=next\"; rel=prev, <b>; title=\"\\\"\"; rel=next", "b"),
            ("link: <a>; rel=prev; rel=next", nil), ("link: <a>; rel=next; anchor=\"#x\"", nil),
            ("link: <a>; rel=nextish", nil),
            ("link: <a>", nil), ("link: a; rel=next", nil), ("link: <>; rel=next", ""), ("x: y", nil),
            ("link: <a>; rel", nil),
            ("link: <a>; rel='next'", "a"), ("link: <a>;rel='prev',<b>;rel='last next'", "b"),
            ("link: <a>; title='x, <z>; rel=next'; rel=prev", nil), ("link: <a>; title='x; rel=next'; rel=prev", nil),
            ("link: <a>; title=o'neil; rel='next'", "a"), ("link: <a>; rel='next", nil), ("link: <a>; rel=''", nil),
        ] as [(String, String?)])
    func `link_next parses a Link header by RFC 8288`(lines: String, expected: String?) throws {
        let row = try Self.database().query(
            "select postrider_internal.link_next(convert_to($x$\(lines)$x$ || chr(10), 'LATIN1'))")
        #expect(row.optionalText(0, 0) == expected)
    }
}
