// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The verdict on an answer with an accepted status, from its bytes on.
struct JudgeAnswerTests {
    /// An answer, the demands of its job and service, and the verdict with code, result and charset.
    ///
    /// The error begins with `words`.
    struct Case: Sendable {
        var job: String
        var service = "{}"
        var type = ""
        var body: String
        var verdict: String
        var code: String?
        var result: String?
        var encoding: String? = "utf-8"
        var words: String?
        var status = 200
    }

    /// Bodies are SQL expressions of type bytea.
    private static func text(_ text: String) -> String { "convert_to($x$\(text)$x$, 'UTF8')" }

    private static let json = #"{"response_format": "json"}"#
    private static let envelope = """
        {"envelope": {"code": "$.code", "success": [200], "token_expired": [801], "logged_out": [802], "message": "$.msg",
          "result": "$.data.result", "errors": {"301": "user_not_found"}}}
        """
    private static let html = #"{"html_is_502": true}"#

    static let plain: [Case] = [
        Case(
            job: json, body: "convert_to('[' || repeat('1e10000,', 300) || '0]', 'UTF8')", verdict: "f",
            code: "json_invalid",
            words: "the body is JSON with a number"),
        Case(
            job: json, type: "a/b; charset=utf-16le", body: "decode(repeat('2000', 4200000), 'hex')", verdict: "f",
            code: "json_invalid", encoding: "utf-16le", words: "the body is UTF-16 and larger than the limit of 8 MiB"),
        Case(job: "{}", body: text("x"), verdict: "s", encoding: nil),
        Case(
            job: "{}", type: "text/html; charset=\"ISO-8859-1\"", body: text("x"), verdict: "s", encoding: "iso-8859-1"),
        Case(job: "{}", type: "image/png", body: "'\\xfffe00'", verdict: "s", encoding: nil),
        Case(job: "{}", body: "null", verdict: "s", encoding: nil),
        Case(job: json, body: text(#"{"a": 1}"#), verdict: "s", result: #"{"a": 1}"#),
        Case(job: json, body: text("null"), verdict: "s", result: "null"),
        Case(job: json, type: "text/plain", body: text("[1]"), verdict: "s", result: "[1]"),
        Case(job: json, body: "''", verdict: "f", code: "json_invalid", words: "the answer has no body"),
        Case(job: json, body: "null", verdict: "f", code: "json_invalid", words: "the answer has no body"),
        Case(
            job: json, body: text("{\n\n x"), verdict: "f", code: "json_invalid",
            words: "the body is not JSON, see its line 3"),
        Case(
            job: json, body: text(#"{"a": "\u0000"}"#), verdict: "f", code: "json_invalid",
            words: "the body is JSON with a character"),
        Case(
            job: json, body: text("1e400000"), verdict: "f", code: "json_invalid",
            words: "the body is JSON with a number"),
        Case(
            job: json, body: "'\\x7b00'", verdict: "f", code: "json_invalid",
            words: "the bytes of the body are not valid in the charset"),
        Case(
            job: json, body: "'\\xff'", verdict: "f", code: "json_invalid",
            words: "the bytes of the body are not valid in the charset"),
        Case(job: json, body: text("NaN"), verdict: "f", code: "json_invalid", words: "the body is not JSON"),
        Case(
            job: json, body: "convert_to(repeat('[', 1000000), 'UTF8')", verdict: "f", code: "json_invalid",
            words: "the JSON is nested too deeply"),
        Case(
            job: json, body: "convert_to(repeat('{\"a\":', 1000000), 'UTF8')", verdict: "f", code: "json_invalid",
            words: "the JSON is nested too deeply"),
        Case(
            job: #"{"response_format": "xml"}"#, body: text("<?xml version='1.0' encoding='ISO-8859-2'?><a/>"),
            verdict: "s", encoding: "iso-8859-2"),
        Case(job: #"{"response_format": "xml"}"#, service: envelope, body: text("<a/>"), verdict: "s"),
        Case(job: #"{"method": "HEAD"}"#, service: envelope, body: "''", verdict: "s", encoding: nil),
        Case(job: #"{"download_to": "x"}"#, service: envelope, body: "null", verdict: "s", encoding: nil),
    ]

    static let charsets: [Case] = [
        Case(
            job: json, type: "application/json; charset=latin1", body: #"'\x22fc22'"#, verdict: "s", result: "\"ü\"",
            encoding: "latin1"),
        Case(
            job: json, type: "application/json; charset=Windows-1252", body: #"'\x228022'"#, verdict: "s",
            result: "\"€\"", encoding: "windows-1252"),
        Case(
            job: json, type: "application/json; charset=Shift_JIS", body: #"'\x2293fa967b22'"#, verdict: "s",
            result: "\"日本\"", encoding: "shift_jis"),
        Case(
            job: json, type: "application/json; charset=GB2312", body: #"'\x22d6d022'"#, verdict: "s", result: "\"中\"",
            encoding: "gb2312"),
        Case(
            job: json, type: "application/json; charset=koi8-r", body: #"'\x22c122'"#, verdict: "s", result: "\"а\"",
            encoding: "koi8-r"),
        Case(
            job: json, type: "application/json; charset=us-ascii", body: text("\"ü\""), verdict: "s", result: "\"ü\"",
            encoding: "utf-8"),
        // JSON that is valid UTF-8 is read as UTF-8. Its label is ignored.
        Case(
            job: json, type: "application/json; charset=ISO-8859-1", body: text("\"Jürgen\""), verdict: "s",
            result: "\"Jürgen\"", encoding: "utf-8"),
        Case(
            job: json, type: "text/plain; charset=windows-1252", body: text("{\"n\": \"Jürgen €\"}"), verdict: "s",
            result: "{\"n\": \"Jürgen €\"}", encoding: "utf-8"),
        Case(
            job: json, type: "application/json; charset=shift_jis", body: text("[\"日本\"]"), verdict: "s",
            result: "[\"日本\"]", encoding: "utf-8"),
        Case(
            job: json, type: "a/b; charset=utf-16", body: #"'\xfffe22003dd800de2200'"#, verdict: "s", result: "\"😀\"",
            encoding: "utf-16le"),
        Case(
            job: json, type: "a/b", body: #"'\xfeff0022d83dde000022'"#, verdict: "s", result: "\"😀\"",
            encoding: "utf-16be"),
        Case(
            job: json, type: "a/b; charset=UTF-16", body: #"'\x007b007d'"#, verdict: "s", result: "{}",
            encoding: "utf-16"),
        Case(
            job: json, type: "a/b; charset=UTF-16", body: #"'\x7b007d00'"#, verdict: "s", result: "{}",
            encoding: "utf-16"),
        Case(
            job: json, type: "a/b; charset=utf-16le", body: #"'\x7b007d00ff'"#, verdict: "f", code: "json_invalid",
            encoding: "utf-16le", words: "the bytes of the body"),
        Case(
            job: json, type: "a/b; charset=utf-16le", body: #"'\x220000d82200'"#, verdict: "f", code: "json_invalid",
            encoding: "utf-16le", words: "the bytes of the body"),
        Case(job: json, type: "a/b; charset=latin1", body: #"'\xefbbbf22c3bc22'"#, verdict: "s", result: "\"ü\""),
        Case(
            job: json, type: "a/b; charset=utf-8", body: #"'\x22fc22'"#, verdict: "f", code: "json_invalid",
            words: "the bytes of the body"),
        Case(
            job: json, type: "a/b; charset=klingon", body: text("\"ü\""), verdict: "s", result: "\"ü\"",
            encoding: "klingon"),
        Case(
            job: json, type: "a/b; charset=klingon", body: #"'\x22fc22'"#, verdict: "f", code: "json_invalid",
            encoding: "klingon", words: "the charset klingon of the answer is unknown"),
        Case(
            job: json, type: "a/b; charset=sql_ascii", body: #"'\x22fc22'"#, verdict: "f", code: "json_invalid",
            encoding: "sql_ascii", words: "the charset sql_ascii of the answer is unknown"),
        Case(
            job: json, type: "a/b; x=\"; charset=koi8-r\"; charset=\"latin1\"; charset=utf-8", body: #"'\x22fc22'"#,
            verdict: "s", result: "\"ü\"", encoding: "latin1"),
        Case(
            job: json, type: "a/b; charset=utf-8\ncontent-type: a/b; charset=latin1", body: #"'\x22fc22'"#,
            verdict: "s", result: "\"ü\"", encoding: "latin1"),
        Case(job: json, type: "a/b; charset='; drop table x'", body: text("1"), verdict: "s", result: "1"),
    ]

    static let results: [Case] = [
        Case(job: #"{"extract": "$.a[*].b"}"#, body: text(#"{"a": [{"b": 1}]}"#), verdict: "s", result: "[1]"),
        Case(job: #"{"extract": "$.a[*].b"}"#, body: text(#"{"a": []}"#), verdict: "s", result: "[]"),
        Case(job: #"{"extract": "$.a[0].b"}"#, body: text(#"{"a": [{"b": 1}]}"#), verdict: "s", result: "1"),
        Case(
            job: #"{"extract": "$.a.b"}"#, body: text(#"{"a": [{"b": 1}, {"b": 2}]}"#), verdict: "s", result: "[1, 2]"),
        Case(job: #"{"extract": "$.a[*] ? (@ > 1)"}"#, body: text(#"{"a": [1, 2]}"#), verdict: "s", result: "[2]"),
        Case(job: #"{"extract": "$.a[*] == 2"}"#, body: text(#"{"a": [1, 2]}"#), verdict: "s", result: "true"),
        Case(job: #"{"extract": "$.zz"}"#, body: text("{}"), verdict: "s", result: "null"),
        Case(job: #"{"extract": "strict $.zz.y"}"#, body: text("[]"), verdict: "s", result: "null"),
        Case(
            job: #"{"extract": "$.zz", "result_type": "list"}"#, body: text("{}"), verdict: "f", code: "no_data",
            words: "the result should be a list and is missing; compare extract with the body"),
        Case(
            job: #"{"extract": "$.zz", "result_type": "list", "paginate": {"style": "link", "items": "$.zz"}}"#,
            body: text("{}"), verdict: "f", code: "no_data",
            words: "the result should be a list and is missing; compare paginate.items with the body"),
        Case(
            job: #"{"result_type": "list", "paginate": {"style": "link"}}"#, body: text("{}"), verdict: "f",
            code: "no_data",
            words: "the result should be a list and is an object; select it in the body with paginate.items"),
        Case(job: #"{"result_type": "list"}"#, body: text("[]"), verdict: "s", result: "[]"),
        Case(
            job: #"{"result_type": "list"}"#, body: text("{}"), verdict: "f", code: "no_data",
            words: "the result should be a list and is an object; select it in the body with extract"),
        Case(job: #"{"result_type": "object"}"#, body: text("{}"), verdict: "s", result: "{}"),
        Case(
            job: #"{"result_type": "object"}"#, body: text("null"), verdict: "f", code: "no_data",
            words: "the result should be an object and is missing"),
        Case(
            job: #"{"result_type": "object"}"#, body: text("x"), verdict: "f", code: "json_invalid",
            words: "the body is not JSON"),
        Case(
            job: #"{"extract": "$.a.datetime() < \"2020-01-01\".datetime()"}"#,
            body: text(#"{"a": "2020-01-01T00:00:00+01"}"#), verdict: "f", code: "no_data", words: "the path of extract"
        ),
        Case(
            job: #"{"validator": {"age": "number"}, "extract": "$.name"}"#, body: text(#"{"age": 1, "name": "x"}"#),
            verdict: "s", result: #""x""#),
        Case(
            job: #"{"validator": {"age": "number"}, "extract": "$.name"}"#,
            body: text(#"{"age": "geheim", "name": "x"}"#), verdict: "f", code: "validator",
            words: "$.age should be a number and is a string"),
        Case(
            job: "{}", service: envelope, body: text(#"{"code": 200, "data": {"result": [1]}}"#), verdict: "s",
            result: "[1]"),
        Case(job: "{}", service: envelope, body: text(#"{"code": "200"}"#), verdict: "s", result: "null"),
        Case(
            job: #"{"extract": "$.code"}"#, service: envelope, body: text(#"{"code": 200}"#), verdict: "s",
            result: "200"),
        Case(
            job: #"{"result_type": "list"}"#, service: envelope, body: text(#"{"code": 200, "data": {"result": {}}}"#),
            verdict: "f", code: "no_data",
            words: "the result should be a list and is an object; compare the result of services.envelope with the body"
        ),
        Case(
            job: #"{"validator": {"code": "number"}}"#, service: envelope, body: text(#"{"code": 200}"#), verdict: "s",
            result: "null"),
        Case(
            job: #"{"validator": {"zz": "any"}}"#, service: envelope,
            body: text(#"{"code": 301, "msg": "no such user"}"#), verdict: "f", code: "envelope",
            words: "user_not_found: no such user"),
        Case(
            job: "{}", service: envelope, body: text(#"{"code": 801}"#), verdict: "f", code: "token_expired",
            words: "801: "),
        Case(
            job: "{}", service: envelope, body: text(#"{"code": 802}"#), verdict: "f", code: "logged_out",
            words: "802: "),
        Case(
            job: "{}", service: envelope, body: text("{}"), verdict: "f", code: "envelope",
            words: "the answer has no code at $.code"),
        Case(
            job: "{}", service: envelope, body: text("oops"), verdict: "f", code: "json_invalid",
            words: "the body is not JSON"),
        Case(
            job: json, service: html, type: "text/html", body: text("Bad gateway"), verdict: "r", code: "http_status",
            words: "the server answered 200 with an HTML page"),
        Case(
            job: json, service: html, body: text("\n<!-- x --><!DOCTYPE html>x"), verdict: "r", code: "http_status",
            words: "the server answered 200 with"),
        Case(
            job: #"{"response_format": "json", "delivery": "at_most_once"}"#, service: html, body: text("<html>"),
            verdict: "f", code: "http_status", words: "the server"),
        Case(job: json, service: html, type: "text/html; charset=utf-8", body: text("{}"), verdict: "s", result: "{}"),
        Case(
            job: json, service: html, body: text("[<html>"), verdict: "f", code: "json_invalid",
            words: "the body is not JSON"),
        Case(
            job: json, type: "text/html", body: text("<html>"), verdict: "f", code: "json_invalid",
            words: "the body is not JSON"),
        Case(job: "{}", service: html, type: "text/html", body: text("<html>"), verdict: "s", encoding: nil),
    ]

    static let bodiless: [Case] = [204, 205, 304].flatMap { status in
        [
            Case(job: json, body: "null", verdict: "s", encoding: nil, status: status),
            Case(job: "{}", service: envelope, body: "''", verdict: "s", encoding: nil, status: status),
            Case(
                job: #"{"validator": {"a": "string"}, "extract": "$.a"}"#, body: "''", verdict: "s", encoding: nil,
                status: status),
            Case(
                job: #"{"result_type": "list"}"#, body: "null", verdict: "f", code: "no_data", encoding: nil,
                words: "the result should be a list, and the answer has no body (status \(status))", status: status),
        ]
    }

    static let required: [Case] =
        [
            ("[]", "an empty list"), ("{}", "an empty object"), ("null", "missing"),
        ].map { body, words in
            Case(
                job: #"{"require_data": true}"#, body: text(body), verdict: "f", code: "no_data",
                words: "the result is \(words), but the job has require_data")
        } + [
            Case(job: #"{"require_data": true}"#, body: text("[null]"), verdict: "s", result: "[null]"),
            Case(job: #"{"require_data": true}"#, body: text("0"), verdict: "s", result: "0"),
            Case(job: #"{"require_data": false, "result_type": "list"}"#, body: text("[]"), verdict: "s", result: "[]"),
            Case(
                job: #"{"require_data": true, "extract": "$.a[*]"}"#, body: text(#"{"a": []}"#), verdict: "f",
                code: "no_data", words: "the result is an empty list, but the job has require_data; compare extract"),
            Case(
                job: #"{"require_data": true}"#, body: "null", verdict: "f", code: "no_data", encoding: nil,
                words: "the result should be not empty, and the answer has no body", status: 204),
        ]

    static let envelopes: [Case] = [
        Case(job: json, service: envelope, body: "''", verdict: "s", encoding: nil),
        Case(job: #"{"validator": {"a": "string"}}"#, service: envelope, body: "null", verdict: "s", encoding: nil),
        Case(job: "{}", service: envelope, body: "null", verdict: "s", encoding: nil, status: 202),
        Case(
            job: #"{"result_type": "object"}"#, service: envelope, body: "''", verdict: "f", code: "no_data",
            encoding: nil, words: "the result should be an object, and the answer has no body"),
        Case(job: #"{"use_envelope": false}"#, service: envelope, body: text("ok"), verdict: "s", encoding: nil),
        Case(
            job: #"{"use_envelope": false, "response_format": "json"}"#, service: envelope, body: text("[1]"),
            verdict: "s", result: "[1]"),
        Case(
            job: #"{"use_envelope": false, "response_format": "json"}"#, service: envelope, body: "''", verdict: "f",
            code: "json_invalid", words: "the answer has no body"),
        Case(
            job: #"{"use_envelope": true}"#, service: envelope, body: text("ok"), verdict: "f", code: "json_invalid",
            words: "the body is not JSON"),
    ]

    @Test(arguments: plain + charsets + results + bodiless + envelopes + required)
    func `judge_answer gives each kind of answer its verdict without raising an error`(item: Case) throws {
        let row = try Self.database().query(
            """
            select a.verdict::text, a.code, a.error, a.result::text, a.encoding
              from postrider_internal.judge_answer(
                jsonb_populate_record(null::postrider.jobs, '{"method": "GET", "response_format": "raw",
                  "result_type": "any", "delivery": "at_least_once"}'::jsonb || $x$\(item.job)$x$::jsonb),
                jsonb_populate_record(null::postrider.services, $x$\(item.service)$x$::jsonb), \(item.status),
                convert_to(\(item.type.isEmpty ? "''" : "E'x-a: b\\n' || $x$content-type: \(item.type)$x$ || E'\\nx-b: c\\n'"), 'UTF8'),
                \(item.body)) a
            """)
        let error = row.optionalText(0, 2)
        #expect(row.optionalText(0, 0) == item.verdict, "\(item) \(error ?? "")")
        #expect(row.optionalText(0, 1) == item.code, "\(item) \(error ?? "")")
        #expect(row.optionalText(0, 3) == item.result, "\(item)")
        #expect(row.optionalText(0, 4) == item.encoding, "\(item)")
        if let words = item.words {
            #expect(error?.hasPrefix(words) == true, "\(error ?? "none")")
            #expect(error?.contains("geheim") == false)
        } else {
            #expect(error == nil, "\(item)")
        }
    }

    @Test func `judge_answer raises no error for random bytes`() throws {
        let row = try Self.database().query(
            """
            select count(a.verdict), count(*) from generate_series(1, 3000) i,
              lateral (select string_agg(decode(lpad(to_hex((random() * 255)::int), 2, '0'), 'hex'), '') as b
                         from generate_series(1, 1 + i % 40)) r,
              lateral (select (array['', 'utf-16', 'utf-16le', 'latin1', 'shift_jis', 'gb18030', 'euc-kr', 'big5',
                               'johab',
                'euc-tw', 'windows-1257', 'iso-8859-7', 'mule_internal', '"'])[1 + i % 14] as c) c,
              lateral postrider_internal.judge_answer(
                jsonb_populate_record(null::postrider.jobs, '{"method": "GET", "response_format": "json",
                  "result_type": "any", "extract": "$.a", "validator": {"a": ["string"]}}'),
                jsonb_populate_record(null::postrider.services, '{"html_is_502": true, "envelope": {"code": "$.c"}}'), 200,
                r.b || convert_to(E'\\ncontent-type: a/b; charset=' || c.c || E'\\n', 'UTF8') || r.b, r.b) a
            """)
        #expect(row.int64(0, 0) == row.int64(0, 1))
    }

    @Test func `try_jsonb returns null for JSON with hundreds of huge numbers`() throws {
        let row = try Self.database().query(
            """
            select postrider_internal.try_jsonb(convert_to('[' || repeat('1e10000,', 300) || '0]', 'UTF8')) is null,
                   postrider_internal.try_jsonb(convert_to('[' || repeat('"a1e10000",', 300) || '1e10000]', 'UTF8')) is null
            """)
        let (many, one) = (row.bool(0, 0), row.bool(0, 1))
        #expect(many)
        #expect(!one)
    }

    @Test func `error_codes lists each code that an answer can end with and its number`() throws {
        let numbers: [(String, Int64)] = [
            ("json_invalid", 301), ("xml_invalid", 302), ("validator", -9), ("envelope", 303), ("no_data", 105),
            ("token_expired", 801), ("logged_out", 802), ("http_status", -8), ("too_large", 212),
        ]
        for (code, number) in numbers {
            let row = try Self.database().query(
                "select number::bigint from postrider.error_codes where code = '\(code)'")
            #expect(row.int64(0, 0) == number)
        }
    }

    private static let made = Result { () throws -> String in try TestQueue.makeDatabase() }
    private static func database() throws -> PGConnection { try PGConnection(made.get()) }
}
