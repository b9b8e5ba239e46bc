// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A bad spec is refused as a whole, and the message begins with the place of the error.
struct BadSpecTests {
    private static let host = #""url": "http://h/""#

    @Test(arguments: [
        ("$", "null"), ("$", "[]"), ("$", "7"), ("$", "{}"), ("$", #"{"priority": 1}"#),
        ("$.urll", #"{"urll": "http://h/"}"#), ("$.id", #"{"url": "http://h/", "id": 1}"#),
        ("$.kind", #"{"url": "http://h/", "kind": "batch"}"#), ("$.each", #"{"url": "http://h/", "each": {}}"#),
        ("$.kind", #"{"url": "http://h/", "kind": 1}"#), ("$.kind", #"{"kind": "chain"}"#),
        ("$.kind", #"{"kind": "batch", "chain": [{"url": "http://h/"}]}"#),
        ("$.chain[0].kind", #"{"chain": [{"url": "http://h/", "kind": "Request"}]}"#),
        ("$.batch.do.kind", #"{"batch": {"each": [1], "do": {"url": "http://h/", "kind": "chain"}}}"#),
        ("$.created_by", #"{"url": "http://h/", "created_by": "root"}"#),
        ("$.url", #"{"url": 1}"#), ("$.priority", #"{"url": "http://h/", "priority": "4"}"#),
        ("$.priority", #"{"url": "http://h/", "priority": 1.5}"#),
        ("$.use_cdn", #"{"url": "http://h/", "use_cdn": 1}"#),
        ("$.timeout", #"{"url": "http://h/", "timeout": 30}"#),
        ("$.timeout", #"{"url": "http://h/", "timeout": "soon"}"#),
        ("$.run_at", #"{"url": "http://h/", "run_at": "whenever"}"#),
        ("$.backoff", #"{"url": "http://h/", "backoff": "1 s"}"#),
        ("$.backoff", #"{"url": "http://h/", "backoff": ["x"]}"#),
        ("$.backoff[0]", #"{"url": "http://h/", "backoff": [5]}"#),
        ("$.batch[0].backoff[1]", #"{"batch": [{"url": "http://h/", "backoff": ["5 s", null]}]}"#),
        ("$.backoff", #"{"url": "http://h/", "backoff": 5}"#),
        ("$.position", #"{"url": "http://h/", "position": 1}"#), ("$.mode", #"{"url": "http://h/", "mode": "all"}"#),
        ("$.url", #"{"url": "ftp://h/"}"#), ("$.run_if", #"{"url": "http://h/", "run_if": "$.a == 1"}"#),
        ("$.chain", #"{"chain": []}"#), ("$.batch", #"{"batch": []}"#), ("$.chain", #"{"chain": {}}"#),
        ("$.chain", #"{"chain": null}"#), ("$.batch", #"{"batch": "x"}"#), ("$.chain[0]", #"{"chain": [null]}"#),
        ("$.batch[1]", #"{"batch": [{"url": "http://h/"}, "x"]}"#),
        ("$.batch", #"{"chain": [{"url": "http://h/"}], "batch": [{"url": "http://h/"}]}"#),
        ("$.batch", #"{"kind": "batch", "chain": [{"url": "http://h/"}], "batch": [{"url": "http://h/"}]}"#),
        ("$.url", #"{"chain": [{"url": "http://h/"}], "url": "http://h/"}"#),
        ("$.batch[0].method", #"{"batch": [{"method": "GET", "chain": [{"url": "http://h/"}]}]}"#),
        ("$.body_json", #"{"chain": [{"url": "http://h/"}], "body_json": 1}"#),
        ("$.mode", #"{"chain": [{"url": "http://h/"}], "mode": "all"}"#),
        ("$.mode", #"{"batch": [{"url": "http://h/"}], "mode": "some"}"#),
        ("$.max_parallel", #"{"batch": [{"url": "http://h/"}], "max_parallel": 0}"#),
        ("$.chain[0].max_parallel", #"{"chain": [{"url": "http://h/", "max_parallel": 2}]}"#),
        ("$.chain[1].batch[0].url", #"{"chain": [{"url": "http://h/"}, {"batch": [{"url": "ftp://h/"}]}]}"#),
        ("$.chain[0].batch[1].chain[0].url", #"{"chain": [{"batch": [{"url": "http://h/"}, {"chain": [{}]}]}]}"#),
        ("$.chain[1].timeout", #"{"chain": [{"url": "http://h/"}, {"url": "http://h/", "timeout": "0 s"}]}"#),
        ("$.chain[1].timeout", #"{"chain": [{"url": "http://h/"}, {"url": "http://h/", "timeout": "x"}]}"#),
        ("$.chain[0].service", #"{"chain": [{"url": "/a", "service": "nobody"}]}"#),
        ("$.chain[0].parent_id", #"{"chain": [{"url": "http://h/", "parent_id": 1}]}"#),
        ("$.chain[0].position", #"{"chain": [{"url": "http://h/", "position": 3}]}"#),
        ("$.parent_id", #"{"url": "http://h/", "parent_id": 4711}"#),
        ("$.batch[0].run_if", #"{"batch": [{"url": "http://h/", "run_if": "$.a == 1"}]}"#),
        ("$.chain[1].run_if", #"{"chain": [{"url": "http://h/"}, {"url": "http://h/", "run_if": "$.a ="}]}"#),
        ("$.chain[1].name", #"{"chain": [{"name": "a", "url": "http://h/"}, {"name": "a", "url": "http://h/"}]}"#),
        (
            "$.batch[2].name",
            #"{"batch": [{"name": "a", "url": "http://h/"}, {"url": "http://h/"}, {"name": "a", "url": "http://h/"}]}"#
        ),
        ("$.chain[0].name", #"{"chain": [{"name": "prev", "url": "http://h/"}]}"#),
        ("$.chain[0].name", #"{"chain": [{"name": "", "url": "http://h/"}]}"#),
        ("$.batch.do", #"{"batch": {"each": [1]}}"#), ("$.batch.each", #"{"batch": {"do": {"url": "http://h/"}}}"#),
        ("$.batch.mode", #"{"batch": {"each": [1], "do": {"url": "http://h/"}, "mode": "settle"}}"#),
        ("$.batch.each", #"{"batch": {"each": [], "do": {"url": "http://h/"}}}"#),
        ("$.batch.each", #"{"batch": {"each": {"a": 1}, "do": {"url": "http://h/"}}}"#),
        ("$.batch.each", #"{"batch": {"each": "all", "do": {"url": "http://h/"}}}"#),
        ("$.batch.do", #"{"batch": {"each": [1], "do": [{"url": "http://h/"}]}}"#),
        ("$.batch.do.name", #"{"batch": {"each": [1], "do": {"name": "a", "url": "http://h/"}}}"#),
        ("$.batch.do.url", #"{"batch": {"each": [1], "do": {"url": "ftp://h/"}}}"#),
        (
            "$.batch.do.chain[0].priority",
            #"{"batch": {"each": [1], "do": {"chain": [{"url": "http://h/", "priority": 999}]}}}"#
        ),
        ("$.batch.do.timeout", #"{"batch": {"each": [1], "do": {"url": "http://h/", "timeout": "x"}}}"#),
        // These values are taken literally. A template there would name a file or a host.
        (
            "$.batch.do.download_to",
            #"{"batch": {"each": [1], "do": {"url": "http://h/", "download_to": "d/{{item}}.txt"}}}"#
        ),
        (
            "$.batch.do.callback_url",
            #"{"batch": {"each": [1], "do": {"url": "http://h/", "callback_url": "http://h/{{item}}"}}}"#
        ),
        ("$.batch[0].callback_url", #"{"batch": [{"url": "http://h/", "callback_url": "http://h/{{item}}"}]}"#),
        ("$.chain[0].callback_url", #"{"chain": [{"batch": [{"url": "http://h/"}], "callback_url": "{{ x.body }}"}]}"#),
    ])
    func `a bad spec is refused with its place and a hint, and nothing is inserted`(place: String, spec: String) throws
    {
        try expectRefusal(of: spec, at: place)
    }

    @Test(arguments: [
        ("$.chain[0].url", #"{"chain": [{"url": "http://h/{{b.body}}"}, {"name": "b", "url": "http://h/"}]}"#, "later"),
        ("$.chain[0].url", #"{"chain": [{"name": "a", "url": "http://h/{{a.body}}"}]}"#, "itself"),
        (
            "$.batch[0].query",
            #"{"batch": [{"url": "http://h/", "query": {"q": "{{b.body}}"}}, {"name": "b", "url": "http://h/"}]}"#,
            "at the same time"
        ),
        (
            "$.batch[1].url", #"{"batch": [{"name": "a", "url": "http://h/"}, {"url": "http://h/{{a.body}}"}]}"#,
            "at the same time"
        ),
        (
            "$.chain[1].headers",
            #"{"chain": [{"url": "http://h/"}, {"url": "http://h/", "headers": {"X": "{{who.body}}"}}]}"#, "no step"
        ),
        (
            "$.chain[1].body_json",
            #"{"chain": [{"batch": [{"name": "in", "url": "http://h/"}]}, {"url": "http://h/", "body_json": ["{{in.body}}"]}]}"#,
            "no step"
        ),
        (
            "$.chain[0].batch[0].url", #"{"chain": [{"name": "up", "batch": [{"url": "http://h/{{up.body}}"}]}]}"#,
            "itself"
        ),
        (
            "$.chain[0].batch[0].url",
            #"{"chain": [{"batch": [{"url": "http://h/{{next.body}}"}]}, {"name": "next", "url": "http://h/"}]}"#,
            "later"
        ),
        ("$.chain[0].url", #"{"chain": [{"url": "http://h/{{prev.body}}"}]}"#, "prev"),
        ("$.chain[1].url", #"{"chain": [{"url": "http://h/"}, {"url": "http://h/{{item}}"}]}"#, "each"),
        ("$.batch.each", #"{"batch": {"each": "{{list.body}}", "do": {"url": "http://h/{{item}}"}}}"#, "no step"),
        ("$.batch.each", #"{"batch": {"each": "{{item}}", "do": {"url": "http://h/{{item}}"}}}"#, "each"),
        (
            "$.chain[1].batch.do.url",
            #"{"chain": [{"name": "list", "url": "http://h/"}, {"batch": {"each": "{{list.body}}", "do": {"url": "http://h/{{lst.body}}"}}}]}"#,
            "no step"
        ),
        (
            "$.chain[0].run_if",
            #"{"chain": [{"url": "http://h/", "run_if": "$.a.status == 1"}, {"name": "a", "url": "http://h/"}]}"#,
            "later"
        ),
        (
            "$.chain[1].run_if",
            #"{"chain": [{"name": "a", "url": "http://h/"}, {"url": "http://h/", "run_if": "$.b.status == 1"}]}"#,
            "no step"
        ),
    ])
    func `a template or run_if may name only steps that end before its own`(place: String, spec: String, word: String)
        throws
    {
        let error = try expectRefusal(of: spec, at: place)
        #expect(error.message.contains(word))
    }

    @Test(arguments: [
        (#"{"uri": "http://h/"}"#, "Perhaps you mean url. "), (#"{"ulr": "http://h/"}"#, "Perhaps you mean url. "),
        (#"{"url": "http://h/", "header": {}}"#, "Perhaps you mean headers. "),
        (#"{"url": "http://h/", "maxAttempts": 3}"#, "Perhaps you mean max_attempts. "),
        (#"{"steps": [{"url": "http://h/"}]}"#, "Perhaps you mean chain. "),
        (#"{"url": "http://h/", "methode": "POST"}"#, "Perhaps you mean method. "),
        (#"{"url": "http://h/", "prioirty": 3}"#, "Perhaps you mean priority. "),
        (#"{"url": "http://h/", "time_out": "3 s"}"#, "Perhaps you mean timeout. "),
        (#"{"chian": [{"url": "http://h/"}]}"#, "Perhaps you mean chain. "),
        (#"{"url": "http://h/", "zzz": 3}"#, "The keys are the columns of postrider.jobs"),
        (#"{"url": "http://h/", "timeout": 30}"#, #"like "30 s""#),
        (#"{"url": "http://h/", "priority": "high"}"#, "from -100 to 100"),
        (#"{"url": "http://h/", "run_at": 1700000000}"#, #"like "2027-"#),
        (#"{"url": "http://h/", "body": {"a": 1}}"#, "body_json"),
        (#"{"url": "http://h/", "ok_statuses": [200]}"#, "{[200,300),[404,405)}"),
    ])
    func `the hint for a misspelled key or bad value shows the right form`(spec: String, hint: String) throws {
        let queue = try PGConnection(SpecQueue.made.get())
        let error = try #require(throws: PGError.self) { try queue.execute("select postrider.submit('\(spec)')") }
        #expect(error.hint?.contains(hint) == true, "\(error.message): \(error.hint ?? "")")
    }

    @Test func `a spec may have at most 1 MiB, 32 levels and 10,000 elements`() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: #"{"chain": ["#, count: levels - 1) + "{\(Self.host)}"
                + String(repeating: "]}", count: levels - 1)
        }
        func each(_ count: Int) -> String {
            #"{"batch": {"each": ["# + (1...count).map(String.init).joined(separator: ", ")
                + #"], "do": {"url": "http://h/"}}}"#
        }
        func long(_ bytes: Int) -> String {
            let frame = #"{"url": "http://h/", "metadata": ""}"#
            return #"{"url": "http://h/", "metadata": ""# + String(repeating: "a", count: bytes - frame.utf8.count)
                + #""}"#
        }
        try expectRefusal(of: nested(33), at: "$" + String(repeating: ".chain[0]", count: 32))
        try expectRefusal(of: each(10_001), at: "$.batch.each")
        try expectRefusal(of: long(1_048_577), at: "$")
        let queue = try TestQueue()
        for spec in [nested(32), each(10_000), long(1_048_576)] {
            #expect(try queue.number("select postrider.submit('\(spec)')") > 0)
        }
    }

    @Test(arguments: [
        ("$.list", #"{"do": {"url": "http://h/"}}"#), ("$.do", #"{"list": [1]}"#), ("must", "[]"),
        ("must", #"{"each": [1], "do": {"url": "http://h/"}}"#),
        ("$.list", #"{"list": "all", "do": {"url": "http://h/"}}"#),
        ("$.more", #"{"list": [1], "do": {"url": "http://h/"}, "more": 1}"#),
        ("$.do.chain[0].url", #"{"list": [1], "do": {"chain": [{"url": "ftp://h/"}]}}"#),
        ("$.do.url", #"{"list": [1], "do": {"url": "http://h/{{item"}}"#),
    ])
    func `the each column of an INSERT obeys the same rules as a spec`(place: String, each: String) throws {
        let queue = try PGConnection(SpecQueue.made.get())
        let error = try #require(throws: PGError.self) {
            try queue.execute("insert into postrider.jobs (kind, each) values ('batch', '\(each)')")
        }
        #expect(error.message.hasPrefix("jobs.each: \(place)"), "\(error.message)")
        #expect(error.column == "each")
        #expect(error.hint?.isEmpty == false)
    }

    @discardableResult
    private func expectRefusal(of spec: String, at place: String) throws -> PGError {
        let queue = try PGConnection(SpecQueue.made.get())
        let error = try #require(throws: PGError.self) { try queue.execute("select postrider.submit('\(spec)')") }
        #expect(error.message.hasPrefix("\(place): "), "\(error.message)")
        #expect(["PR001", "PR006"].contains(error.sqlState?.rawValue), "\(error)")
        #expect(error.hint?.isEmpty == false)
        #expect(try queue.query("select count(*) from postrider.jobs").int64(0, 0) == 0)
        return error
    }

    /// One database for all refused specs, which leave it unchanged.
    private enum SpecQueue {
        static let made = Result { () throws -> String in try TestQueue.makeDatabase() }
    }
}
