// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The ends of batches and chains without outside changes.
final class TreeTests {
    private let target: TargetServer
    private let queue: TestQueue

    init() throws {
        target = try TargetServer()
        queue = try TestQueue()
    }

    private func call(_ path: String) -> TreePlan { .request(target.url + path) }

    private func states(_ plan: TreePlan) throws -> [String?] {
        try plan.all.map { try queue.state($0.id) }
    }

    private func wait(_ plan: TreePlan, toBe state: String) throws {
        try queue.wait(for: plan.id, toBe: state)
        try queue.wait(
            until: """
                select not exists (select from postrider_internal.trees where is_draining)
                   and not exists (select from postrider_internal.tree_deltas)
                """)
    }

    @Test func `a batch of three succeeds and each answer is kept`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var batch = TreePlan.batch([call("/ok/1"), call("/ok/2"), call("/wait/100/3")])
        try batch.insert(into: queue)
        try wait(batch, toBe: "succeeded")
        let row = try queue.rows(
            """
            select children::text, children_finished::text, children_failed::text, failed_job_id::text, error_code,
                   (finished_at >= started_at)::text
            from postrider.job_status where id = \(batch.id)
            """)
        #expect(row == [["3", "3", "0", nil, nil, "true"]])
        let members = try queue.rows(
            """
            select position::text, kind, state, status_code::text, result::text
            from postrider.job_status where parent_id = \(batch.id) order by position
            """)
        #expect(members == (1...3).map { ["\($0)", "request", "succeeded", "200", "{}"] })
    }

    @Test func `a failed member fails its batch and aborts the other calls within a second`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var batch = TreePlan.batch([call("/hang/1"), call("/hang/2"), call("/status/404")])
        // The third member waits until the calls of the others have begun.
        batch.members.removeLast()
        try batch.insert(into: queue)
        try TestClock.wait(10, for: "two calls") { target.underWay == 2 }
        let failing = try queue.insert("parent_id, name, url", "\(batch.id), 'third', '\(target.url)/status/404'")
        try wait(batch, toBe: "failed")
        try TestClock.wait(5, for: "the end of the transfers") { target.underWay == 0 }
        let ended = try #require(target.requests("/status/404").first?.endedAt)
        for path in ["/hang/1", "/hang/2"] {
            let request = try #require(target.requests(path).first)
            #expect(request.isAborted)
            #expect(try #require(request.endedAt) - ended < Soak.nanoseconds(1))
        }
        let row = try queue.rows(
            """
            select children::text, children_finished::text, children_failed::text, failed_job_id::text, error_code,
                   error
            from postrider.job_status where id = \(batch.id)
            """)
        let sentence = "member \(failing) third failed: http_status"
        #expect(row == [["3", "3", "3", "\(failing)", "child_failed", sentence]])
        let explained = try queue.text("select postrider.explain(\(batch.id))") ?? ""
        #expect(explained.hasPrefix("Job \(batch.id) failed at "), "\(explained)")
        #expect(explained.contains(" because its member \(failing) 'third' failed after 1 attempt: "), "\(explained)")
        #expect(explained.hasSuffix(" (http_status)."), "\(explained)")
        #expect(try batch.members.map { try queue.state($0.id) } == ["cancelled", "cancelled"])
        #expect(try queue.number("select count(*) from postrider_internal.aborts") == 0)
    }

    @Test func `a chain stops at a failed step and skips all later steps`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var chain = TreePlan.chain([
            call("/wait/50/1"), call("/status/404/2"), call("/ok/3"), .batch([call("/ok/4"), call("/ok/5")]),
        ])
        try chain.insert(into: queue)
        try wait(chain, toBe: "failed")
        #expect(
            try states(chain) == ["failed", "succeeded", "failed", "skipped", "skipped", "skipped", "skipped"])
        #expect(target.requests.map(\.path) == ["/wait/50/1", "/status/404/2"])
        #expect(
            try queue.number("select failed_job_id from postrider.job_status where id = \(chain.id)")
                == chain.members[1].id)
    }

    @Test func `two workers run the steps of a chain one after the other`() throws {
        let workers = [try RunningWorker(queue.database), try RunningWorker(queue.database)]
        defer { workers.kill() }
        var chain = TreePlan.chain((1...12).map { call("/wait/20/\($0)") })
        try chain.insert(into: queue)
        try wait(chain, toBe: "succeeded")
        #expect(target.requests.map(\.path) == (1...12).map { "/wait/20/\($0)" })
        for (before, after) in zip(target.requests, target.requests.dropFirst()) {
            #expect(try #require(before.endedAt) <= after.arrivedAt)
        }
    }

    @Test func `mode settle tolerates failures, mode first needs one success and fails without one`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var settle = TreePlan.batch([call("/ok/1"), call("/status/404/1"), call("/wait/100/1")], mode: "settle")
        var first = TreePlan.batch([call("/hang/2"), call("/status/404/2"), call("/wait/100/2")], mode: "first")
        var none = TreePlan.batch([call("/status/404/3"), call("/status/404/4")], mode: "first")
        try settle.insert(into: queue)
        try first.insert(into: queue)
        try none.insert(into: queue)
        try wait(settle, toBe: "succeeded")
        try wait(first, toBe: "succeeded")
        try wait(none, toBe: "failed")
        #expect(try states(settle) == ["succeeded", "succeeded", "failed", "succeeded"])
        #expect(try queue.number("select children_failed from postrider.job_status where id = \(settle.id)") == 1)
        #expect(try states(first) == ["succeeded", "cancelled", "failed", "succeeded"])
        #expect(try states(none) == ["failed", "failed", "failed"])
        #expect(
            try queue.text("select error from postrider.job_status where id = \(none.id)") == "no member has succeeded")
    }

    @Test func `no more than max_parallel members run at once`() throws {
        let workers = [try RunningWorker(queue.database), try RunningWorker(queue.database)]
        defer { workers.kill() }
        var batch = TreePlan.batch((1...24).map { call("/wait/30/\($0)") }, maxParallel: 3)
        try batch.insert(into: queue)
        try wait(batch, toBe: "succeeded")
        let moments = target.requests.flatMap { [($0.arrivedAt, 1), ($0.endedAt ?? 0, -1)] }.sorted { $0 < $1 }
        var running = 0
        var most = 0
        for (_, step) in moments {
            running += step
            most = max(most, running)
        }
        #expect(target.requests.count == 24)
        #expect(most <= 3)
        #expect(Set(target.requests.map(\.path)) == Set((1...24).map { "/wait/30/\($0)" }))
    }

    @Test func `trees nest up to 32 deep, and deeper trees are refused`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var deep = call("/ok/deep")
        for level in 1...32 { deep = level % 2 == 0 ? .chain([deep]) : .batch([deep]) }
        try deep.insert(into: queue)
        try wait(deep, toBe: "succeeded")
        #expect(target.requests.map(\.path) == ["/ok/deep"])
        var deeper = TreePlan.batch([deep])
        let error = #expect(throws: PGError.self) { try deeper.insert(into: queue) }
        #expect(error?.sqlState?.rawValue == "PR001")
        #expect(error?.message.contains("32 deep") == true)
        try queue.connection.execute("rollback")
        // A failure at the bottom ends all levels above it.
        var failing = call("/status/404")
        for level in 1...32 { failing = level % 2 == 0 ? .chain([failing]) : .batch([failing]) }
        try failing.insert(into: queue)
        try wait(failing, toBe: "failed")
        #expect(try Set(states(failing)) == ["failed"])
    }

    @Test func `a batch of 2000 in a chain runs completely before the next step`() throws {
        let worker = try RunningWorker(queue.database, concurrency: 64)
        defer { worker.kill() }
        var chain = TreePlan.chain([
            call("/ok/first"), .batch((1...2000).map { call("/ok/\($0)") }), call("/ok/last"),
        ])
        try chain.insert(into: queue)
        try queue.wait(60, for: chain.id, toBe: "succeeded")
        #expect(target.requests.count == 2002)
        #expect(target.requests.first?.path == "/ok/first")
        #expect(target.requests.last?.path == "/ok/last")
        let batch = chain.members[1].id
        #expect(
            try queue.rows(
                "select children::text, children_finished::text from postrider.job_status where id = \(batch)")
                == [["2000", "2000"]])
    }

    @Test func `the failure of one member ends 3000 other members, also members not yet started`() throws {
        let worker = try RunningWorker(queue.database, concurrency: 4)
        defer { worker.kill() }
        var batch = TreePlan.batch([call("/status/404")] + (1...3000).map { call("/wait/20/\($0)") })
        try batch.insert(into: queue)
        try wait(batch, toBe: "failed")
        #expect(target.requests.count < 3000)
        #expect(
            try queue.rows(
                """
                select children::text, children_finished::text,
                       (children_failed = (select count(*) from postrider.jobs j
                                           join postrider_internal.results r on r.job_id = j.id
                                            where j.parent_id = \(batch.id) and r.state in ('f', 'c')))::text
                from postrider.job_status where id = \(batch.id)
                """) == [["3001", "3001", "true"]])
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 0)
    }

    @Test func `many members that read a large answer do not delay other jobs`() throws {
        let large = "{\"x\": \"a\", \"l\": [\(Array(repeating: "123", count: 500_000).joined(separator: ","))]}"
        let target = try TargetServer { request in
            request.path == "/large" ? TargetStep.answer(200, large) : TargetStep.answer(200)
        }
        let worker = try RunningWorker(queue.database, concurrency: 16)
        defer { worker.kill() }
        let members = Array(repeating: #"{"url": "URL/{{a.body.x}}"}"#, count: Soak.count(100, reduced: 40)).joined(
            separator: ",")
        let root = try queue.number(
            "select postrider.submit($${\"chain\": [{\"name\": \"a\", \"url\": \"URL/large\", \"notify\": true}, {\"batch\": [\(members)]}]}$$)"
                .replacing("URL", with: target.url))
        try queue.wait(
            until: "select count(*) > 0 from postrider_internal.members where parent_id <> \(root) and not is_waiting")
        var slowest = 0.0
        for _ in 1...Soak.count(5, reduced: 2) {
            let start = TestClock.now
            try queue.wait(30, for: queue.insert("url", "'\(target.url)/other'"), toBe: "succeeded")
            slowest = max(slowest, TestClock.seconds(since: start))
        }
        #expect(try queue.state(root) == "running")
        try queue.wait(120, for: root, toBe: "succeeded")
        #expect(slowest < Soak.seconds(4), "\(slowest)")
    }

    @Test func `a cancelled batch with locked rows does not delay the end of another batch`() throws {
        let batches = try ["a", "b"].map { name in
            try queue.number(
                #"select postrider.submit('{"batch": [{"name": "\#(name)", "url": "http://h/"}]}')"#)
        }
        let other = try PGConnection(queue.database)
        // Rows that another transaction has locked are left for later.
        try other.execute("begin; select from postrider_internal.ready for update")
        for batch in batches { try queue.connection.execute("select postrider.cancel(\(batch))") }
        let draining = """
            select coalesce(string_agg(job_id::text, ',' order by job_id), '') from postrider_internal.trees
              where is_draining
            """
        #expect(try queue.text(draining) == "\(batches[0]),\(batches[1])")
        try other.execute("rollback; begin")
        try other.execute(
            """
            insert into postrider_internal.results (job_id, state, attempt)
            select id, 'c', 0 from postrider.jobs where parent_id = \(batches[0])
            """)
        try queue.connection.execute("select postrider_internal.settle(0, true)")
        #expect(try queue.text(draining) == "\(batches[0])")
        try other.execute("rollback")
        try queue.connection.execute("select postrider_internal.settle(0, true)")
        #expect(try queue.text(draining) == "")
    }
}
