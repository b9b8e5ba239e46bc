// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A stored answer does not serve a job that does not accept its status or length.
struct CacheSuitsTests {
    private static let gone = ("ok_statuses", "'{[404,405)}'")
    private static let outdate = "update postrider.cache_entries set created_at = created_at - interval '2 min'"

    /// Calls a job and stores its answer. The job takes any status as a success.
    private func store(
        _ fixture: borrowing CacheFixture, _ status: Int, _ body: String, _ columns: (String, String) = ("", ""),
        headers: String = "x: y"
    ) throws {
        let job = try fixture.insert(columns.0, columns.1)
        #expect(try fixture.take() == [job])
        #expect(try fixture.answer(job, body, status: status, headers: headers) == "succeeded miss \(status) \(body)")
    }

    @Test func `a stored 404 does not serve a job whose ok_statuses exclude 404`() throws {
        let fixture = try CacheFixture()
        try store(fixture, 404, "none", Self.gone)
        #expect(try fixture.fetch(Self.gone.0, Self.gone.1) == "succeeded hit 404 none")
        let job = try fixture.insert()
        #expect(try fixture.take() == [job])
        #expect(
            try fixture.answer(job, "none", status: 404, verdict: "f", code: "http_status")
                == "failed miss http_status 404 none")
        // A failure is not stored, so the entry still serves the jobs that accept it.
        #expect(try fixture.fetch(Self.gone.0, Self.gone.1) == "succeeded hit 404 none")
        #expect(try fixture.fetch("ok_statuses", "'{[200,300),[404,405)}'") == "succeeded hit 404 none")
    }

    @Test func `a stored 200 does not serve a job that accepts only 404`() throws {
        let fixture = try CacheFixture()
        try store(fixture, 200, "there")
        let job = try fixture.insert(Self.gone.0, Self.gone.1)
        #expect(try fixture.take() == [job])
        #expect(try fixture.answer(job, "none", status: 404) == "succeeded miss 404 none")
    }

    @Test(arguments: [false, true])
    func `an expired entry with a refused status is neither revalidated nor served stale`(servesStale: Bool) throws {
        let fixture = try CacheFixture()
        if servesStale {
            try fixture.queue.connection.execute(
                "insert into postrider.services (name, base_url, stale_if_error) values ('s', 'http://h', '1 hour')")
        }
        let columns = servesStale ? ("service, ok_statuses", "'s', '{[404,405)}'") : Self.gone
        try store(fixture, 404, "none", columns, headers: "etag: \"v1\"")
        try fixture.queue.connection.execute(Self.outdate)
        let job = try servesStale ? fixture.insert("service", "'s'") : fixture.insert()
        #expect(try fixture.take() == [job])
        #expect(try fixture.queue.text("select headers::text from fixture.held") == nil)
        try fixture.answer(job, "down", status: 503, verdict: "r", code: "http_status")
        #expect(try fixture.queue.state(job) == "scheduled")
        #expect(
            try fixture.queue.number("select count(*) from postrider.cache_entries where failed_at is not null") == 0)
    }

    @Test func `a 304 serves no entry stored meanwhile with a status that the job refuses`() throws {
        let fixture = try CacheFixture()
        try store(fixture, 200, "old", headers: "etag: \"v1\"")
        try fixture.queue.connection.execute(Self.outdate)
        let job = try fixture.insert()
        #expect(try fixture.take() == [job])
        try fixture.queue.connection.execute("update postrider.cache_entries set status = 404")
        try fixture.answer(job, "", status: 304, verdict: "f", code: "http_status")
        #expect(try fixture.queue.state(job) == "scheduled")
    }

    @Test(arguments: [1_000, 100_000])
    func `an entry longer than max_response of the job or service is a miss`(bytes: Int) throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.services (name, base_url, cache_namespace, max_response)
            values ('wide', 'http://h', 'n', null), ('narrow', 'http://h', 'n', \(bytes - 1))
            """)
        let body = String(repeating: "x", count: bytes)
        try store(fixture, 200, body, ("service", "'wide'"))
        #expect(try fixture.fetch("service, max_response", "'wide', \(bytes)") == "succeeded hit 200 \(body)")
        #expect(try fixture.fetch("service, max_response", "'narrow', \(bytes)") == "succeeded hit 200 \(body)")
        let jobs = try [
            fixture.insert("service, max_response", "'wide', \(bytes - 1)"), fixture.insert("service", "'narrow'"),
        ]
        // The first job is called. The second waits for its answer.
        #expect(try fixture.take() == [jobs[0]])
        #expect(
            try fixture.answer(jobs[0], "", status: 200, verdict: "f", code: "too_large")
                == "failed miss too_large 200 ")
        #expect(try fixture.take() == [jobs[1]])
    }

    private static let envelope = #"{"code": "$.code"}"#

    @Test(arguments: [
        ("response_format", "'json'"), ("validator", "'{\"a\": \"string\"}'"), ("extract", "'$.a'"),
        ("service", "'enveloped'"), ("result_type", "'list'"),
    ])
    func `an entry whose body does not fit the job is a miss and is replaced`(column: String, value: String) throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.services (name, base_url, cache_namespace, envelope)
            values ('bare', 'http://h', 'n', null), ('enveloped', 'http://h', 'n', '\(Self.envelope)')
            """)
        let isService = column == "service"
        let columns = isService ? column : "service, " + column
        let values = isService ? value : "'bare', " + value
        try store(fixture, 200, "hello", ("service", "'bare'"))
        #expect(try fixture.fetch(columns, values, "still not") == "failed cache_data json_invalid 200 still not")
        // The failure is not stored, and the entry still serves other jobs.
        #expect(try fixture.fetch("service", "'bare'") == "succeeded hit 200 hello")
        let good = column == "result_type" ? "[1]" : "{\"code\": 200, \"a\": \"x\"}"
        #expect(try fixture.fetch(columns, values, good) == "succeeded cache_data 200 \(good)")
        #expect(try fixture.fetch(columns, values) == "succeeded hit 200 \(good)")
        #expect(try fixture.fetch("service", "'bare'") == "succeeded hit 200 \(good)")
    }

    @Test func `a confirmed entry that does not fit the job is deleted, and the job retries`() throws {
        let fixture = try CacheFixture()
        try store(fixture, 200, "hello", headers: "etag: \"v1\"")
        try fixture.queue.connection.execute(Self.outdate)
        let job = try fixture.insert("response_format, backoff", "'json', '{0 s}'")
        #expect(try fixture.take() == [job])
        try fixture.answer(job, "", status: 304, verdict: "f", code: "http_status")
        #expect(try fixture.queue.state(job) == "scheduled")
        let error = try fixture.queue.text("select error from postrider.attempts where job_id = \(job)") ?? ""
        #expect(error.contains("does not fit this job (json_invalid: the body is not JSON"), "\(error)")
        #expect(try fixture.queue.number("select count(*) from postrider.cache_entries") == 0)
        #expect(try fixture.queue.number("select sum(entries)::bigint from postrider.cache_status") == 0)
    }

    @Test func `cache_put stores an answer with a status from ok_statuses`() throws {
        let fixture = try CacheFixture()
        try fixture.queue.connection.execute(
            "select postrider.cache_put('{\"url\": \"http://h/a\", \"ok_statuses\": \"{[404,405)}\"}', 'none'::text)")
        #expect(try fixture.fetch(Self.gone.0, Self.gone.1) == "succeeded hit 404 none")
    }
}
