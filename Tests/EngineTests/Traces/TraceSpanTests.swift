// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// Spans in the JSON form of OTLP.
struct TraceSpanTests {
    private let context = TraceContext(
        trace: TraceID(high: 0x4bf9_2f35_77b3_4da6, low: 0xa3ce_929d_0e0e_4736), span: 0x00f0_67aa_0ba9_02b7,
        state: "a=\"1\"")

    @Test func `ids are hex, times and numbers are texts`() {
        var span = TraceSpan(
            context: context, id: 5, parent: 6, name: "GET", kind: .client, start: 1_700_000_000_000_000_001,
            end: 1_700_000_000_000_000_002)
        span.add("http.response.status_code", 503)
        span.add("none", nil as String?)
        #expect(
            String(decoding: span.json(error: "503"), as: UTF8.self) == #"""
                {"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"0000000000000005",\#
                "parentSpanId":"0000000000000006",\#
                "traceState":"a=\"1\"","flags":1,"name":"GET","kind":3,"startTimeUnixNano":"1700000000000000001",\#
                "endTimeUnixNano":"1700000000000000002","attributes":[{"key":"http.response.status_code",\#
                "value":{"intValue":"503"}},{"key":"error.type","value":{"stringValue":"503"}}],"status":{"code":2}}
                """#)
    }

    @Test func `the span of an attempt has no secret of its call`() {
        var call = HTTPCall(
            method: .post, url: "https://ada:secret@api.example.com/v1?key=secret",
            query: [FormField("token", "secret")], headers: [HTTPHeader("Authorization", "secret")],
            body: .bytes(Array("secret".utf8), contentType: nil))
        call.cookies = ["secret"]
        let job = ClaimedJob(
            lease: Lease(track: 1, seq: 2, fence: 3, jobID: 7, attempt: 2), call: call, isAtMostOnce: false,
            okStatuses: .success)
        let outcome = CallOutcome(.response(HTTPResponse(status: 500, body: Array("secret".utf8))), httpVersion: "1.1")
        let error = TraceSpan.error(of: outcome, job)
        #expect(error == "500")
        let span = TraceSpan.attempt(
            JobTrace(context, job: 8, attempt: 9), job, outcome, error: error, start: 1, end: 2)
        let text = String(decoding: span, as: UTF8.self)
        #expect(!text.contains("secret"), "\(text)")
        #expect(text.contains(#""url.full","value":{"stringValue":"https://api.example.com/v1"}"#), "\(text)")
        #expect(text.contains(#""http.request.resend_count","value":{"intValue":"1"}"#), "\(text)")
    }

    @Test func `the span of a failed job names its error, and one of a batch is internal`() {
        var labels = TraceLabels()
        labels.queue = "mail"
        let job = EndedJob(id: 7, state: "failed", labels: labels, errorCode: "timeout")
        let failed = String(decoding: TraceSpan.job(job, context: context, id: 1, parent: 2), as: UTF8.self)
        #expect(failed.contains(#""name":"process mail","kind":5"#), "\(failed)")
        #expect(failed.contains(#"{"key":"error.type","value":{"stringValue":"timeout"}}]"#), "\(failed)")
        let batch = EndedJob(id: 7, kind: "batch", labels: labels)
        let whole = String(
            decoding: TraceSpan.body(
                [TraceSpan.job(batch, context: context, id: 1, parent: 0)], resource: ["service.name": "a\"b"]),
            as: UTF8.self)
        #expect(whole.contains(#""name":"batch mail","kind":1"#), "\(whole)")
        #expect(
            whole.hasPrefix(
                #"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"a\"b"}}]}"#
            ))
        #expect(!whole.contains("parentSpanId") && !whole.contains("error.type"))
    }
}
