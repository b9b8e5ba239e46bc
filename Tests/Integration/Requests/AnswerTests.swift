// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The handling of answers by real servers, from the job's row to its result.
struct AnswerTests {
    /// One answer of the test's server, and the job's expected result.
    struct Case: Sendable {
        var columns = "response_format"
        var values = "'json'"
        var type = "application/json"
        var body: [UInt8]
        var state = "succeeded"
        var code: String?
        var result: String?
        var encoding: String? = "utf-8"
        var words = ""
    }

    private static func utf8(_ text: String) -> [UInt8] { [UInt8](text.utf8) }
    private static func utf16(_ text: String) -> [UInt8] {
        text.utf16.flatMap { (unit: UInt16) -> [UInt8] in [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
    }
    private static let person = #"{"name": "string", "age": "number", "tags": ["string"], "home": {"city": "string"}}"#

    static let cases: [Case] = [
        Case(body: utf8(#"{"a": "ü"}"#), result: #"{"a": "ü"}"#),
        Case(body: utf8("{"), state: "failed", code: "json_invalid", words: "the body is not JSON"),
        Case(body: [], state: "failed", code: "json_invalid", words: "the answer has no body"),
        Case(
            body: utf8(String(repeating: "[", count: 1_000_000)), state: "failed", code: "json_invalid",
            words: "the JSON is nested too deeply"),
        Case(
            type: "application/json; charset=ISO-8859-1", body: [0x22, 0xFC, 0x22], result: "\"ü\"",
            encoding: "iso-8859-1"),
        Case(
            type: "application/json; charset=utf-16", body: [0xFF, 0xFE] + utf16("\"ü😀\""), result: "\"ü😀\"",
            encoding: "utf-16le"),
        Case(
            type: "application/json; charset=Shift_JIS", body: [0x22, 0x93, 0xFA, 0x96, 0x7B, 0x22], result: "\"日本\"",
            encoding: "shift_jis"),
        Case(
            type: "application/json; charset=utf-8", body: [0x22, 0xFC, 0x22], state: "failed", code: "json_invalid",
            words: "the bytes of the body"),
        Case(type: "application/json; charset=latin1", body: [0xEF, 0xBB, 0xBF] + utf8("\"ü\""), result: "\"ü\""),
        Case(columns: "tag", values: "'x'", type: "text/plain; charset=latin1", body: [0xFC], encoding: nil),
        // Only an answer with a JSON content type is shown as JSON, in any spelling of the type.
        Case(columns: "tag", values: "'x'", type: "Application/JSON", body: utf8("[1]"), result: "[1]", encoding: nil),
        Case(
            columns: "tag", values: "'x'", type: "text/plain\r\nLink: </schema.json>; rel=describedby",
            body: utf8("123"), encoding: nil),
        Case(columns: "response_format", values: "'xml'", type: "application/xml", body: utf8("<a><b/>ü</a>")),
        Case(
            columns: "response_format", values: "'xml'", type: "text/xml; charset=latin1",
            body: utf8("<a>") + [0xFC] + utf8("</a>"), encoding: "latin1"),
        Case(
            columns: "response_format", values: "'xml'", type: "text/xml", body: utf8("<a>\n<b>\n</a>"),
            state: "failed", code: "xml_invalid", encoding: nil, words: "the body is not well-formed XML: line 3"),
        Case(
            columns: "response_format", values: "'xml'", type: "text/xml", body: utf8("{}"), state: "failed",
            code: "xml_invalid", encoding: nil, words: "the body is not well-formed XML"),
        Case(
            columns: "validator", values: "'\(person)'",
            body: utf8(#"{"name": "ada", "age": 36, "tags": ["a"], "home": {"city": null}, "more": 1}"#),
            result: #"{"age": 36, "home": {"city": null}, "more": 1, "name": "ada", "tags": ["a"]}"#),
        Case(
            columns: "validator", values: "'\(person)'",
            body: utf8(#"{"name": null, "age": null, "tags": [], "home": null}"#),
            result: #"{"age": null, "home": null, "name": null, "tags": []}"#),
        Case(
            columns: "validator", values: "'\(person)'", body: utf8(#"{"name": "ada", "tags": [], "home": null}"#),
            state: "failed", code: "validator", words: "$.age is missing"),
        Case(
            columns: "validator", values: "'\(person)'",
            body: utf8(#"{"name": "ada", "age": "geheim", "tags": [], "home": null}"#), state: "failed",
            code: "validator", words: "$.age should be a number and is a string"),
        Case(
            columns: "validator", values: "'[{\"id\": \"number\"}]'", body: utf8(#"[{"id": 1}, {"id": true}]"#),
            state: "failed", code: "validator", words: "$[1].id should be a number and is a boolean"),
        Case(
            columns: "extract, result_type", values: "'$.data.list', 'list'",
            body: utf8(#"{"data": {"list": [1, 2]}}"#), result: "[1, 2]"),
        Case(
            columns: "extract, result_type", values: "'$.data.list', 'list'", body: utf8(#"{"data": {}}"#),
            state: "failed", code: "no_data", words: "the result should be a list"),
        Case(
            columns: "service", values: "'api'", body: utf8(#"{"code": 200, "data": {"result": {"id": 7}}}"#),
            result: #"{"id": 7}"#),
        Case(
            columns: "service", values: "'api'", body: utf8(#"{"code": 301, "msg": "no such user"}"#), state: "failed",
            code: "envelope", words: "user_not_found: no such user"),
        Case(
            columns: "service", values: "'api'", body: utf8(#"{"code": 801}"#), state: "failed", code: "token_expired",
            words: "801: "),
        Case(
            columns: "service", values: "'api'", body: utf8(#"{"code": 802, "msg": "bye"}"#), state: "failed",
            code: "logged_out", words: "802: bye"),
        Case(
            columns: "service", values: "'api'", body: utf8("[]"), state: "failed", code: "envelope",
            words: "the answer has no code"),
        Case(
            columns: "service, max_attempts", values: "'api', 1", type: "text/html", body: utf8("<html>oops"),
            state: "failed", code: "http_status", words: "the server answered 200 with an HTML page"),
    ]

    @Test func `each answer gets its own state, error code, message, result and charset`() throws {
        let target = try TargetServer { request in
            let item = Self.cases[Int(request.path.split(separator: "/").last ?? "") ?? 0]
            let head = "HTTP/1.1 200 OK\r\nContent-Type: \(item.type)\r\nContent-Length: \(item.body.count)\r\n\r\n"
            return [.send([UInt8](head.utf8) + item.body)]
        }
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url, html_is_502, envelope) values ('api', '\(target.url)', true,
              '{"code": "$.code", "success": [200], "token_expired": [801], "logged_out": [802], "message": "$.msg",
                "result": "$.data.result", "errors": {"301": "user_not_found"}}')
            """)
        let worker = try RunningWorker(queue.database)
        let ids = try Self.cases.enumerated().map { number, item in
            try queue.insert("url, \(item.columns)", "'\(target.url)/\(number)', \(item.values)")
        }
        try queue.waitUntilDone()
        for (id, item) in zip(ids, Self.cases) {
            let row = try queue.rows(
                """
                select s.state, s.error_code, case when s.state = 'succeeded'
                  then s.result::text end, r.encoding, s.error
                  from postrider.job_status s join postrider_internal.results r on r.job_id = s.id where s.id = \(id)
                """)[0]
            #expect(Array(row[..<4]) == [item.state, item.code, item.result, item.encoding], "\(item) \(row)")
            #expect(row[4]?.hasPrefix(item.words) ?? item.words.isEmpty, "\(row)")
            #expect(row[4]?.contains("geheim") != true)
        }
        #expect(worker.count(of: "result_unstorable") == 0)
    }

    @Test func `a 200 answer with HTML instead of JSON is retried if html_is_502 is set`() throws {
        let target = try TargetServer { request in
            request.turn == 1 ? TargetStep.answer(200, "<!doctype html><p>busy") : TargetStep.answer(200, #"{"a": 1}"#)
        }
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.services (name, html_is_502) values ('api', true)")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert(
            "service, url, response_format, backoff", "'api', '\(target.url)/', 'json', '{100 ms}'")
        try queue.wait(for: id, toBe: "succeeded")
        #expect(try queue.number("select attempt::bigint from postrider.job_status where id = \(id)") == 2)
        #expect(
            try queue.rows(
                "select attempt::text, error_code from postrider.attempts where job_id = \(id) order by attempt")
                == [["1", "http_status"], ["2", nil]])
    }

    @Test func `a worker judges httpbin's JSON, XML, HTML and UTF-8 pages correctly`() throws {
        let httpbin = try HttpbinServer()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let json = try queue.insert(
            "url, validator, extract",
            "'\(httpbin.url)/json', '{\"slideshow\": {\"title\": \"string\", \"slides\": [{\"title\": \"string\"}]}}', '$.slideshow.slides[*].title'"
        )
        let xml = try queue.insert("url, response_format", "'\(httpbin.url)/xml', 'xml'")
        let html = try queue.insert("url, response_format", "'\(httpbin.url)/html', 'json'")
        let wrong = try queue.insert("url, validator", "'\(httpbin.url)/get?a=1', '{\"args\": {\"a\": \"number\"}}'")
        let bytes = try queue.insert("url", "'\(httpbin.url)/encoding/utf8'")
        try queue.waitUntilDone()
        let state = { (id: Int64) in
            try queue.rows("select state, error_code, result::text from postrider.job_status where id = \(id)")[0]
        }
        #expect(try state(json) == ["succeeded", nil, #"["Wake up to WonderWidgets!", "Overview"]"#])
        #expect(try state(xml) == ["succeeded", nil, nil])
        #expect(try state(html) == ["failed", "json_invalid", nil])
        #expect(try Array(state(wrong)[..<2]) == ["failed", "validator"])
        #expect(try state(bytes)[0] == "succeeded")
        #expect(
            try queue.text("select error from postrider.job_status where id = \(wrong)")?.hasPrefix(
                "$.args.a should be a number and is a string") == true)
    }
}
