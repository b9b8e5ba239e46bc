// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// `settings.max_request_body` limits the bytes that a job sends.
///
/// They are counted as sent, at INSERT and when templates are filled.
struct RequestSizeTests {
    /// Each kind of body with exactly this size, in SQL.
    private static func body(_ column: String, _ bytes: Int) -> String {
        switch column {
        case "body": "convert_to(repeat('x', \(bytes)), 'UTF8')"
        case "body_json": "to_jsonb(repeat('x', \(bytes - 2)))"
        // Each & is sent as %26, after "a=".
        case "body_form": "jsonb_build_object('a', repeat('&', \((bytes - 2) / 3)) || repeat('x', \((bytes - 2) % 3)))"
        default:
            """
            jsonb_build_array(jsonb_build_object('name', 'n', 'content', repeat('x', 7)), \
            jsonb_build_object('name', 'm', 'base64', encode(convert_to(repeat('x', \(bytes - 10)), 'UTF8'), 'base64')), \
            jsonb_build_object('name', 'f', 'file', 'any'))
            """
        }
    }

    /// A target where `/bytes/N` answers with N letters.
    private static func target() throws -> TargetServer {
        try TargetServer { request in
            let parts = request.path.split(separator: "/")
            guard parts.first == "bytes", let count = Int(parts[1]) else { return TargetStep.byPath(request) }
            return TargetStep.answer(200, "\"" + String(repeating: "x", count: count - 2) + "\"")
        }
    }

    private static func refusal(_ queue: borrowing TestQueue, _ columns: String, _ values: String) -> PGError? {
        do throws(PGError) {
            try queue.connection.execute("insert into postrider.jobs (\(columns)) values (\(values))")
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["body", "body_json", "body_form", "body_parts"])
    func `a body of max_request_body bytes is accepted, and one more byte is refused by column`(column: String) throws {
        let queue = try TestQueue()
        try queue.connection.execute("update postrider.settings set max_request_body = 100000")
        #expect(Self.refusal(queue, "url, \(column)", "'http://h/', \(Self.body(column, 100_000))") == nil)
        let error = Self.refusal(queue, "url, \(column)", "'http://h/', \(Self.body(column, 100_001))")
        #expect(error?.sqlState?.rawValue == "PR001" && error?.hint?.isEmpty == false)
        #expect(error.map { "\($0)" }?.contains("jobs.\(column):") == true)
        try queue.connection.execute("update postrider.settings set max_request_body = 200000")
        #expect(Self.refusal(queue, "url, \(column)", "'http://h/', \(Self.body(column, 100_001))") == nil)
        // The body is in one of many rows.
        #expect(throws: PGError.self) {
            try queue.insert(
                10_050, "url, \(column)", "'http://h/', case i when 10001 then \(Self.body(column, 200_001)) end")
        }
        #expect(try queue.number("select count(*) from postrider.jobs") == 2)
    }

    @Test func `a 200 MB body is refused, and huge JSON exponents are refused within 5 s`() throws {
        let queue = try TestQueue()
        let huge = Self.refusal(queue, "url, body", "'http://h/', convert_to(repeat('x', 200000000), 'UTF8')")
        #expect(huge?.sqlState?.rawValue == "PR001")
        let began = TestClock.now
        for count in [500, 5_000, 500_000] {
            let error = Self.refusal(
                queue, "url, body_json", "'http://h/', ('[' || repeat('1e130000,', \(count)) || '0]')::jsonb")
            #expect(error?.sqlState?.rawValue == "PR001")
            #expect(error.map { "\($0)" }?.contains("jobs.body_json:") == true)
        }
        // Writing the last number out takes over a minute and more memory than the machine has.
        #expect(TestClock.now - began < Soak.nanoseconds(5))
        // These numbers are also written with many zeros.
        for number in ["-1e130000", "1e-16000", "1" + String(repeating: "0", count: 900) + "e100000"] {
            let error = Self.refusal(
                queue, "url, body_json", "'http://h/', ('[' || repeat('\(number),', 1200) || '0]')::jsonb")
            #expect(error?.sqlState?.rawValue == "PR001")
        }
        let few = Self.refusal(queue, "url, body_json", "'http://h/', ('[' || repeat('1e130000,', 100) || '0]')::jsonb")
        #expect(few == nil)
    }

    @Test func `json_bytes equals the length of the JSON text for all forms of numbers`() throws {
        let queue = try TestQueue()
        for text in [
            "'[1, -2, 0, 0.00, 1.50, 1e20, -1e-7, 12345678901234567890.000123]'",
            "'{\"a\": [true, null, {\"b\": \"\\n\"}]}'",
            "('[' || repeat('1e1000,', 3000) || '0.10]')", "('[' || repeat('-123456.0010,', 30000) || '1e-500]')",
            "('[' || repeat('\"\\u0001ä\",', 30000) || '1]')",
        ] {
            #expect(
                try queue.text(
                    """
                    select (postrider_internal.json_bytes(j, 536870912) = octet_length(j::text)
                            and (postrider_internal.json_bytes(j, 70000) > 70000)
                              = (octet_length(j::text) > 70000))::text
                      from (select \(text)::jsonb as j) x
                    """) == "true")
        }
    }

    @Test(arguments: [("1", "65535"), ("2", "536870913"), ("3", "null"), ("4", "-1")])
    func `settings.max_request_body refuses null and values below 64 KiB or above 512 MiB`(_: String, value: String)
        throws
    {
        let queue = try TestQueue()
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("update postrider.settings set max_request_body = \(value)")
        }
        #expect(error?.sqlState?.rawValue == "PR001" && error?.hint?.isEmpty == false)
        #expect(error.map { "\($0)" }?.contains("settings.max_request_body:") == true)
    }

    @Test(arguments: ["body_json", "body_form", "body_parts"])
    func `a step fails with too_large if filled templates make its body exceed the limit`(column: String) throws {
        let target = try Self.target()
        let queue = try TestQueue()
        try queue.connection.execute("update postrider.settings set max_request_body = 100000")
        let body =
            column == "body_parts"
            ? #"[{"name": "a", "content": "{{first.body}}{{first.body}}"}]"#
            : #"{"a": "{{first.body}}{{first.body}}"}"#
        let chain = try queue.number(
            """
            select postrider.submit('{"chain": [
              {"name": "first", "url": "\(target.url)/bytes/60000"},
              {"name": "fits", "method": "POST", "url": "\(target.url)/ok", "body_json": "{{first.body}}"},
              {"name": "grows", "method": "POST", "url": "\(target.url)/ok", "\(column)": \(body)}]}')
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: chain, toBe: "failed")
        #expect(
            try queue.rows(
                """
                select name, state, error_code, (error like '\(column): %settings.max_request_body%')::text
                  from postrider.job_status where parent_id = \(chain) order by position
                """) == [
                    ["first", "succeeded", nil, nil], ["fits", "succeeded", nil, nil],
                    ["grows", "failed", "too_large", "true"],
                ])
    }

    @Test func `a webhook omits a result that would make it too large`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        try queue.connection.execute("update postrider.settings set max_request_body = 100000")
        let job = try queue.insert(
            "url, callback_url, metadata", "'\(target.url)/bytes/120000', '\(target.url)/hook', '{\"mine\": 1}'")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: job, toBe: "succeeded")
        #expect(
            try queue.text(
                "select (body_json -> 'data')::text from postrider.jobs where tag = 'webhook'"
            )?.contains(#""omitted": ["result"]"#) == true)
        let mine = "select body_json #>> '{data,metadata,mine}' from postrider.jobs where tag = 'webhook'"
        #expect(try queue.text(mine) == "1")
    }
}
