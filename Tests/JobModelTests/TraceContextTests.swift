// SPDX-License-Identifier: Apache-2.0

import JobModel
import Testing

/// Headers of W3C Trace Context.
struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test(arguments: [
        ("00-\(trace)-\(span)-01", true), ("00-\(trace)-\(span)-00", true), ("00-\(trace)-\(span)-ff", true),
        // Later versions may have more fields.
        ("01-\(trace)-\(span)-01", true), ("cc-\(trace)-\(span)-01-more", true), ("cc-\(trace)-\(span)-01-", true),
        ("cc-\(trace)-\(span)-01.more", false), ("00-\(trace)-\(span)-01-more", false),
        ("00-\(trace)-\(span)-01-", false), ("ff-\(trace)-\(span)-01", false),
        ("00-00000000000000000000000000000000-\(span)-01", false), ("00-\(trace)-0000000000000000-01", false),
        ("00-4BF92F3577B34DA6A3CE929D0E0E4736-\(span)-01", false), ("00-\(trace)-00F067AA0BA902B7-01", false),
        ("0A-\(trace)-\(span)-01", false), ("00-\(trace)-\(span)-0A", false), ("00-\(trace)-\(span)-1", false),
        ("00-\(trace)-\(span)", false), ("0-\(trace)-\(span)-01", false), ("00_\(trace)_\(span)_01", false),
        ("00-\(trace)0-\(span)-01", false), ("00-\(trace)-g0f067aa0ba902b7-01", false),
        (" 00-\(trace)-\(span)-01", false), ("00-\(trace)-\(span)-01 ", false), ("", false), ("é", false),
    ])
    func `a traceparent is valid by the rules of the standard`(text: String, isValid: Bool) {
        #expect((TraceContext(traceparent: text) != nil) == isValid)
    }

    @Test func `a context has the parts of its header, and writes version 00`() throws {
        let context = try #require(TraceContext(traceparent: "cc-\(Self.trace)-\(Self.span)-05-more", state: "a=1"))
        #expect(context.traceparent.dropFirst(3).prefix(32) == Self.trace)
        #expect(context.span == 0x00f0_67aa_0ba9_02b7)
        #expect(context.flags == 5)
        #expect(context.isSampled)
        #expect(context.state == "a=1")
        #expect(context.traceparent == "00-\(Self.trace)-\(Self.span)-01")
        let other = try #require(TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-02"))
        #expect(!other.isSampled)
    }

    @Test func `the server gets the span of the attempt in the trace of the caller`() throws {
        let context = try #require(TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-01", state: "a=1"))
        let trace = JobTrace(context, job: 7, attempt: 8)
        #expect(
            trace.headers == [
                HTTPHeader("traceparent", "00-\(Self.trace)-0000000000000008-01"), HTTPHeader("tracestate", "a=1"),
            ])
        var headers = [HTTPHeader("Traceparent", "x"), HTTPHeader("A", "b"), HTTPHeader("TRACESTATE", "y")]
        #expect(JobTrace.isGiven(in: headers))
        JobTrace.replace(in: &headers, by: trace.headers)
        #expect(headers.map(\.name) == ["A", "traceparent", "tracestate"])
    }

    @Test func `numbers of spans are equal in all workers and differ between jobs, attempts and installations`() {
        let numbers = SpanNumbers(prefix: "0c8b6a52-7f1e-4d53-9a7b-3a1f5e0d9c11")
        let again = SpanNumbers(prefix: "0c8b6a52-7f1e-4d53-9a7b-3a1f5e0d9c11")
        let other = SpanNumbers(prefix: "0c8b6a52-7f1e-4d53-9a7b-3a1f5e0d9c12")
        #expect(numbers.span(ofJob: 7) == again.span(ofJob: 7))
        #expect(numbers.span(ofJob: 7) != other.span(ofJob: 7))
        #expect(numbers.trace(ofRoot: 7) == again.trace(ofRoot: 7))
        #expect(numbers.trace(ofRoot: 7) != other.trace(ofRoot: 7))
        var seen: Set<UInt64> = [0]
        for job in Int64(1)...1000 {
            seen.insert(numbers.span(ofJob: job))
            for fence in Int64(1)...10 { seen.insert(numbers.span(ofJob: job, fence: fence)) }
        }
        #expect(seen.count == 11_001)
    }

    @Test(arguments: [
        ("https://api.example.com/a/b?token=x#y", "https://api.example.com/a/b", "api.example.com", 443),
        ("http://ada:secret@h:8080/a", "http://h:8080/a", "h", 8080),
        ("HTTP://H", "http://H", "h", 80), ("http://a@b@h/x@y", "http://h/x@y", "h", 80),
        ("http://[::1]:9/x", "http://[::1]:9/x", "::1", 9), ("https://[::1]", "https://[::1]", "::1", 443),
        ("http://h?x=http://u:p@i/", "http://h", "h", 80), ("/a?b", "/a", "", nil), ("", "", "", nil),
    ])
    func `a URL for other systems has no user, password, query and fragment`(
        url: String, text: String, host: String, port: Int?
    ) {
        let masked = MaskedURL(url)
        #expect(masked.text == text)
        #expect(masked.host == host)
        #expect(masked.port == port)
    }
}
