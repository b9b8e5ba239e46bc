// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The columns `traceparent` and `tracestate`: their checks at INSERT, and their way to members.
struct TraceColumnTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"
    private static let good = "00-\(trace)-\(span)-01"

    @Test(arguments: [
        (good, true), ("cc-\(trace)-\(span)-01-more", true), ("cc-\(trace)-\(span)-01", true),
        ("cc-\(trace)-\(span)-01.more", false), ("\(good)-more", false), ("\(good)-", false),
        ("ff-\(trace)-\(span)-01", false), ("00-00000000000000000000000000000000-\(span)-01", false),
        ("00-\(trace)-0000000000000000-01", false), ("00-4BF92F3577B34DA6A3CE929D0E0E4736-\(span)-01", false),
        ("00-\(trace)-\(span)-0A", false), ("00-\(trace)-\(span)", false), ("\(good) ", false), ("", false),
        ("cc-\(trace)-\(span)-01-" + String(repeating: "x", count: 300), false),
    ])
    func `a traceparent is valid by the rules of the standard`(text: String, isValid: Bool) throws {
        let queue = try TestQueue(sharedBy: "trace columns")
        #expect(try queue.text("select postrider_internal.is_traceparent('\(text)')::text") == "\(isValid)")
    }

    @Test(arguments: [
        ("a=1", true), ("vendor=value,other=1", true), ("t61rcWkgMzE@vendor=x", false), ("fw529a3039@dt=FfqHAA", true),
        ("a= 1 , b/c-d*e_f=x~!#", true), ("", true), (" a=1,\t,b=2\t", true), ("a", false), ("a=", false),
        ("=1", false), ("A=1", false), ("a=1=2", false), ("a=é", false), ("a=1;b=2", false), ("a=1;b", true),
        (Array(repeating: "a=1", count: 32).joined(separator: ","), true),
        (Array(repeating: "a=1", count: 33).joined(separator: ","), false),
        ("a=" + String(repeating: "x", count: 5000), false),
    ])
    func `a tracestate is valid by the rules of the standard`(text: String, isValid: Bool) throws {
        let queue = try TestQueue(sharedBy: "trace columns")
        #expect(try queue.text("select postrider_internal.is_tracestate('\(text)')::text") == "\(isValid)")
    }

    @Test func `a bad column is refused at INSERT and in a spec, with its place and a hint`() throws {
        let queue = try TestQueue()
        func refusal(_ statement: String) -> (message: String, hint: String, state: String?) {
            do throws(PGError) {
                try queue.connection.execute(statement)
                return ("", "", nil)
            } catch {
                return (error.description, error.hint ?? "", error.sqlState?.rawValue)
            }
        }
        for statement in [
            "insert into postrider.jobs (url, traceparent) values ('http://h/', 'x')",
            "insert into postrider.jobs (url, service, traceparent) values ('http://h/', null, 'x')",
            "insert into postrider.jobs (url, headers, traceparent) values ('http://h/', '{\"a\": \"b\"}', 'x')",
            """
            insert into postrider.jobs (url, traceparent)
            select 'http://h/' || i, case when i > 15000 then 'x' end from generate_series(1, 20000) i
            """,
        ] {
            let refused = refusal(statement)
            #expect(refused.state == "PR001", "\(refused)")
            #expect(
                refused.message.contains("jobs.traceparent: is not a traceparent of W3C Trace Context"), "\(refused)")
            #expect(refused.hint.contains("like 00-4bf92f"), "\(refused)")
        }
        let alone = refusal("insert into postrider.jobs (url, tracestate) values ('http://h/', 'a=1')")
        #expect(alone.message.contains("jobs.tracestate: is given without traceparent"), "\(alone)")
        let state = refusal(
            "insert into postrider.jobs (url, traceparent, tracestate) values ('http://h/', '\(Self.good)', 'A')")
        #expect(state.message.contains("jobs.tracestate: is not a tracestate of W3C Trace Context"), "\(state)")
        let spec = refusal(
            #"select postrider.submit('{"chain": [{"url": "http://h/"}, {"url": "http://h/", "traceparent": "x"}]}')"#)
        #expect(spec.message.contains("$.chain[1].traceparent: is not a traceparent"), "\(spec)")
        let type = refusal(#"select postrider.submit('{"url": "http://h/", "traceparent": 7}')"#)
        #expect(type.message.contains("$.traceparent: number is not of type text"), "\(type)")
    }

    @Test func `members inherit both columns, unless they have a traceparent of their own`() throws {
        let queue = try TestQueue()
        let other = "00-\(Self.trace)-1111111111111111-01"
        _ = try queue.number(
            """
            select postrider.submit('{"traceparent": "\(Self.good)", "tracestate": "a=1", "chain": [
              {"name": "x", "url": "http://h/"}, {"name": "y", "url": "http://h/", "traceparent": "\(other)"},
              {"name": "z", "batch": [{"name": "w", "url": "http://h/"}]}]}')
            """)
        try queue.connection.execute(
            """
            insert into postrider.jobs (name, url, parent_id) values ('late', 'http://h/', 1);
            """)
        let rows = try queue.rows("select name, traceparent, tracestate from postrider.jobs order by name nulls first")
        #expect(
            rows == [
                [nil, Self.good, "a=1"], ["late", Self.good, "a=1"], ["w", Self.good, "a=1"], ["x", Self.good, "a=1"],
                ["y", other, nil], ["z", Self.good, "a=1"],
            ], "\(rows)")
    }

    @Test func `a job with a trace needs no preparation, but its claim reads more than basic columns`() throws {
        let queue = try TestQueue()
        #expect(
            try queue.rows(
                """
                select v.traceparent, postrider_internal.has_preparation(j)::text,
                       postrider_internal.has_basic_columns(j)::text
                  from (values (null), ('\(Self.good)')) v (traceparent)
                 cross join lateral jsonb_populate_record(
                   null::postrider.jobs, jsonb_build_object('url', 'http://h/', 'response_format', 'raw',
                                                            'result_type', 'any', 'traceparent', v.traceparent)) j
                """) == [[nil, "false", "true"], [Self.good, "false", "false"]])
    }
}
