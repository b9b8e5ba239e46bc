// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Traces: the header that servers see, and the spans that a collector gets.
struct TraceTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let traceparent = "00-\(trace)-00f067aa0ba902b7-01"

    private let httpbin: HttpbinServer
    private let collector: TraceCollector

    init() throws {
        httpbin = try HttpbinServer()
        collector = try TraceCollector()
    }

    /// A worker that writes its spans to the collector.
    private func worker(_ queue: borrowing TestQueue, _ words: [String] = [], _ variables: [String] = []) throws
        -> RunningWorker
    {
        try RunningWorker(
            queue.database, words,
            under: ["/usr/bin/env", "OTEL_EXPORTER_OTLP_ENDPOINT=\(collector.url)"] + variables)
    }

    /// Puts the spans of the collector into a table, once there are so many.
    private func readSpans(_ queue: borrowing TestQueue, _ count: Int64) throws {
        try queue.connection.execute("create temp table if not exists spans (s jsonb)")
        var latest = ""
        for _ in 0..<100 {
            latest = try collector.spans
            var parameters = PGParameters()
            parameters.append(text: latest)
            _ = try queue.connection.query("delete from spans")
            _ = try queue.connection.query(
                "insert into spans select e from jsonb_array_elements($1::jsonb) e", &parameters)
            if try queue.number("select count(*) from spans") >= count { break }
            usleep(100_000)
        }
        #expect(try queue.number("select count(*) from spans") == count, "\(latest)")
    }

    /// The header that the server saw.
    private static let seen = "s.result -> 'headers' ->> 'Traceparent'"

    @Test func `the server sees the span of the attempt, which stands below the job and the caller`() throws {
        let queue = try TestQueue()
        let worker = try worker(queue)
        defer { worker.kill() }
        try queue.insert(
            "url, traceparent, tracestate, tag",
            "'\(httpbin.url)/anything?key=secret', '\(Self.traceparent)', 'a=1', 'x'")
        try queue.insert("url", "'\(httpbin.url)/anything'")
        try queue.waitUntilDone()
        try readSpans(queue, 2)
        #expect(
            try queue.rows(
                """
                select split_part(\(Self.seen), '-', 2), (\(Self.seen) like '%-01')::text,
                       (split_part(\(Self.seen), '-', 3) = a.s ->> 'span')::text,
                       s.result -> 'headers' ->> 'Tracestate', (a.s ->> 'parent' = j.s ->> 'span')::text,
                       j.s ->> 'parent', a.s ->> 'kind', j.s ->> 'kind', a.s ->> 'name', j.s ->> 'name',
                       j.s ->> 'trace', a.s ->> 'state', a.s -> 'attributes' ->> 'http.response.status_code'
                  from postrider.job_status s, spans a, spans j
                 where s.tag = 'x' and a.s ->> 'kind' = 'CLIENT' and j.s ->> 'kind' = 'CONSUMER'
                """) == [
                    [
                        Self.trace, "true", "true", "a=1", "true", "00f067aa0ba902b7", "CLIENT", "CONSUMER", "GET",
                        "process default", Self.trace, "a=1", "200",
                    ]
                ])
        #expect(try queue.text("select count(*)::text from spans where s::text like '%secret%'") == "0")
        #expect(
            try queue.rows("select \(Self.seen) from postrider.job_status s where s.tag is null") == [[nil]])
        #expect(
            try queue.rows(
                "select distinct s -> 'resource' ->> 'service.name', s ->> 'scope' from spans") == [
                    ["postrider", "postrider"]
                ])
    }

    @Test func `members stand below their batch or chain, and each retry below its job`() throws {
        let queue = try TestQueue()
        let worker = try worker(queue)
        defer { worker.kill() }
        let root = try queue.number(
            """
            select postrider.submit('{"traceparent": "\(Self.traceparent)", "queue": "q", "chain": [
              {"name": "a", "url": "\(httpbin.url)/anything"},
              {"batch": [{"name": "b", "url": "\(httpbin.url)/anything"},
                         {"name": "c", "url": "\(httpbin.url)/status/503", "max_attempts": 2, "backoff": ["0 s"]}],
               "mode": "settle", "name": "d"}]}')
            """)
        try queue.waitUntilDone()
        try readSpans(queue, 9)
        #expect(
            try queue.rows(
                """
                select coalesce(j.name, 'root'), v.s ->> 'name', v.s ->> 'kind',
                       coalesce(p.name, case when v.s ->> 'parent' = '00f067aa0ba902b7' then 'caller' else 'root' end),
                       v.s ->> 'failed', v.s -> 'attributes' ->> 'error.type'
                  from spans v
                  join postrider.job_status j on j.id = (v.s -> 'attributes' ->> 'postrider.job.id')::bigint
                  left join spans w on w.s ->> 'span' = v.s ->> 'parent'
                  left join postrider.job_status p on p.id = (w.s -> 'attributes' ->> 'postrider.job.id')::bigint
                 order by j.id, v.s ->> 'kind' desc, v.s ->> 'end'
                """) == [
                    ["root", "chain q", "INTERNAL", "caller", "false", nil],
                    ["a", "process q", "CONSUMER", "root", "false", nil], ["a", "GET", "CLIENT", "a", "false", nil],
                    ["d", "batch q", "INTERNAL", "root", "false", nil],
                    ["b", "process q", "CONSUMER", "d", "false", nil], ["b", "GET", "CLIENT", "b", "false", nil],
                    ["c", "process q", "CONSUMER", "d", "true", "http_status"],
                    ["c", "GET", "CLIENT", "c", "true", "503"], ["c", "GET", "CLIENT", "c", "true", "503"],
                ])
        #expect(try queue.text("select string_agg(distinct s ->> 'trace', ',') from spans") == Self.trace)
        #expect(try queue.text("select state from postrider.job_status where id = \(root)") == "succeeded")
    }

    @Test func `with always, a job without a context begins a trace, and its members share it`() throws {
        let queue = try TestQueue()
        let worker = try worker(queue, ["--trace", "always"])
        defer { worker.kill() }
        try queue.insert("url", "'\(httpbin.url)/anything'")
        _ = try queue.number(
            """
            select postrider.submit('{"chain": [
              {"url": "\(httpbin.url)/anything"}, {"url": "\(httpbin.url)/anything"}]}')
            """
        )
        try queue.insert("url, headers", "'\(httpbin.url)/anything', '{\"traceparent\": \"mine\"}'")
        try queue.waitUntilDone()
        try readSpans(queue, 7)
        #expect(
            try queue.rows(
                """
                select count(*)::text, string_agg(v.s ->> 'kind', ' ' order by v.s ->> 'kind'),
                       bool_and(v.s ->> 'parent' = '' or exists (
                         select from spans p where p.s ->> 'span' = v.s ->> 'parent'))::text
                  from spans v group by v.s ->> 'trace' order by 1
                """) == [
                    ["2", "CLIENT CONSUMER", "true"], ["5", "CLIENT CLIENT CONSUMER CONSUMER INTERNAL", "true"],
                ])
        #expect(
            try queue.rows(
                """
                select (count(*) filter (where \(Self.seen) = 'mine'))::text,
                       (count(*) filter (where split_part(\(Self.seen), '-', 3) in (
                         select v.s ->> 'span' from spans v)))::text
                  from postrider.job_status s
                """) == [["1", "3"]])
    }

    @Test(arguments: [(["--trace", "off"], [String]()), ([], ["OTEL_SDK_DISABLED=true"])])
    func `with off, the context is passed on unchanged and no span is written`(words: [String], variables: [String])
        throws
    {
        let queue = try TestQueue()
        let worker = try worker(queue, words, variables)
        try queue.insert("url, traceparent", "'\(httpbin.url)/anything', '\(Self.traceparent)'")
        try queue.waitUntilDone()
        #expect(try queue.text("select \(Self.seen) from postrider.job_status s") == Self.traceparent)
        #expect(worker.end(SIGTERM) == 0)
        #expect(try collector.spans == "[]")
    }

    @Test func `a worker that ends writes its last spans first, and an unsampled trace gets none`() throws {
        let queue = try TestQueue()
        try queue.insert("url, traceparent", "'\(httpbin.url)/anything', '\(Self.traceparent)'")
        try queue.insert("url, traceparent", "'\(httpbin.url)/anything', '\(Self.traceparent.dropLast())0'")
        _ = try queue.number(
            """
            select postrider.submit('{
              "traceparent": "\(Self.traceparent)", "batch": [{"url": "\(httpbin.url)/anything"}]}')
            """
        )
        let worker = try worker(queue, ["--once"], ["OTEL_EXPORTER_OTLP_HEADERS=x-key=a b"])
        #expect(worker.wait() == 0)
        try readSpans(queue, 5)
        #expect(
            try queue.text("select \(Self.seen) from postrider.job_status s where s.id = 2")?.hasSuffix("-00") == true)
        var parameters = PGParameters()
        parameters.append(text: try collector.requests)
        let headers = try queue.connection.query(
            "select distinct e ->> 'x-key' from jsonb_array_elements($1::jsonb) e", &parameters)
        #expect(headers.rowCount == 1)
        #expect(headers.optionalText(0, 0) == "a b")
    }

    @Test func `a collector that is down delays no call, and its spans are dropped and counted`() throws {
        let queue = try TestQueue()
        let port = try TargetServer.freePort()
        let pages = try TargetServer.freePort()
        let worker = try RunningWorker(
            queue.database, ["--http", "127.0.0.1:\(pages)"],
            under: ["/usr/bin/env", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:\(port)/"])
        defer { worker.kill() }
        try queue.insert(20, "url, traceparent", "'\(httpbin.url)/anything', '\(Self.traceparent)'")
        try queue.waitUntilDone()
        try TestClock.wait(30, for: "dropped spans") {
            try PageReader(port: pages).read("/metrics").lines.contains("postrider_spans_dropped_total 40")
        }
        try worker.wait(for: "spans_dropped")
    }
}
