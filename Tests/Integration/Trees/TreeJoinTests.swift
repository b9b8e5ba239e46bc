// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport
import Testing

/// The ways in which members join batches and chains, and the refusals.
final class TreeJoinTests {
    private let target: TargetServer
    private let queue: TestQueue

    init() throws {
        target = try TargetServer()
        queue = try TestQueue()
    }

    private func refused(_ code: String, _ part: String, _ body: () throws -> Void) {
        let error = #expect(throws: PGError.self) { try body() }
        #expect(error?.sqlState?.rawValue == code)
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
        try? queue.connection.execute("rollback")
    }

    @Test func `one statement can insert a whole tree, and COPY can insert members`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let chain = try queue.number(
            """
            with c as (insert into postrider.jobs (kind) values ('chain') returning id),
            first as (insert into postrider.jobs (parent_id, url) select id, '\(target.url)/ok/1' from c returning id),
            b as (insert into postrider.jobs (kind, parent_id) select 'batch', c.id from c, first returning id)
            insert into postrider.jobs (parent_id, url) select id, '\(target.url)/ok/2' || n
              from b, generate_series(1, 3) n
            returning (select id from c)
            """)
        try queue.wait(for: chain, toBe: "succeeded")
        #expect(target.requests.first?.path == "/ok/1")
        #expect(target.requests.count == 4)
        try queue.connection.execute("begin")
        let batch = try queue.insert("kind", "'batch'")
        try queue.connection.execute(
            "copy postrider.jobs (parent_id, url) from program 'for i in 1 2 3; do echo \"\(batch)\t\(target.url)/ok/copied/$i\"; done'"
        )
        try queue.connection.execute("commit")
        try queue.wait(for: batch, toBe: "succeeded")
        #expect(try queue.number("select children from postrider.job_status where id = \(batch)") == 3)
    }

    @Test func `a batch joined while its chain fails is skipped with its members and never starts`() throws {
        try queue.connection.execute("begin")
        let chain = try queue.insert("kind", "'chain'")
        try queue.insert("parent_id, url", "\(chain), '\(target.url)/status/404'")
        let batch = try queue.insert("kind, parent_id", "'batch', \(chain)")
        try queue.insert("parent_id, url", "\(batch), '\(target.url)/ok/first'")
        try queue.connection.execute("commit")
        let other = try PGConnection(queue.database)
        try other.execute("begin")
        try other.execute("insert into postrider.jobs (parent_id, url) values (\(batch), '\(target.url)/ok/joined')")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: chain, toBe: "failed")
        #expect(try queue.state(batch) == "waiting")
        try other.execute("commit")
        try queue.wait(for: batch, toBe: "skipped")
        try queue.wait(
            until: "select count(*) = 2 from postrider.job_status where parent_id = \(batch) and state = 'skipped'")
        #expect(target.requests.map(\.path) == ["/status/404"])
    }

    @Test func `a rolled-back batch makes no call and leaves no rows in trees or members`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.connection.execute("begin")
        let batch = try queue.insert("kind", "'batch'")
        try queue.insert("parent_id, url", "\(batch), '\(target.url)/ok/1'")
        try queue.connection.execute("rollback")
        let last = try queue.insert("url", "'\(target.url)/ok/last'")
        try queue.wait(for: last, toBe: "succeeded")
        #expect(target.requests.map(\.path) == ["/ok/last"])
        #expect(try queue.number("select count(*) from postrider_internal.trees") == 0)
        #expect(try queue.number("select count(*) from postrider_internal.members") == 0)
    }

    @Test func `an empty batch or chain is refused at the commit`() throws {
        for kind in ["batch", "chain"] {
            refused("PR001", "has no members") { try queue.insert("kind", "'\(kind)'") }
            refused("PR001", "has no members") {
                try queue.connection.execute("begin")
                let parent = try queue.insert("kind", "'chain'")
                try queue.insert("kind, parent_id", "'\(kind)', \(parent)")
                try queue.connection.execute("commit")
            }
        }
        #expect(try queue.number("select count(*) from postrider.jobs") == 0)
    }

    @Test func `names and positions are unique among siblings, and each refusal names the defect`() throws {
        var tree = TreePlan.chain([.request("\(target.url)/ok/1"), .request("\(target.url)/ok/2")])
        try tree.insert(into: queue)
        let url = "'\(target.url)/ok'"
        try queue.insert("parent_id, name, url", "\(tree.id), 'a', \(url)")
        refused("PR001", "jobs.name: chain \(tree.id) has a member named a already") {
            try queue.insert("parent_id, name, url", "\(tree.id), 'a', \(url)")
        }
        refused("PR001", "jobs.name: chain \(tree.id) has a member named b already") {
            try queue.connection.execute(
                "insert into postrider.jobs (parent_id, name, url) values (\(tree.id), 'b', \(url)), (\(tree.id), 'b', \(url))"
            )
        }
        refused("PR001", "jobs.position: chain \(tree.id) has a member at position 2 already") {
            try queue.insert("parent_id, position, url", "\(tree.id), 2, \(url)")
        }
        refused("PR001", "jobs.position: chain \(tree.id) has already passed position 0") {
            try queue.insert("parent_id, position, url", "\(tree.id), 0, \(url)")
        }
        refused("PR001", "jobs.parent_id: job 999 does not exist") { try queue.insert("parent_id, url", "999, \(url)") }
        refused("PR001", "is a request") { try queue.insert("parent_id, url", "\(tree.members[0].id), \(url)") }
        #expect(try queue.number("select max(position) from postrider.job_status where parent_id = \(tree.id)") == 3)
        let far = try queue.insert("parent_id, position, url", "\(tree.id), 10, \(url)")
        let next = try queue.insert("parent_id, url", "\(tree.id), \(url)")
        #expect(
            try queue.rows("select position::text from postrider.job_status where id in (\(far), \(next)) order by id")
                == [["10"], ["11"]])
    }

    @Test func `a step that joins a running chain runs last, and a finished parent refuses new members`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var chain = TreePlan.chain([.request("\(target.url)/held/1")])
        var batch = TreePlan.batch([.request("\(target.url)/held/2")])
        try chain.insert(into: queue)
        try batch.insert(into: queue)
        try TestClock.wait(10, for: "two calls") { target.requests.count == 2 }
        for tree in [chain, batch] {
            try queue.insert("parent_id, url", "\(tree.id), '\(target.url)/ok/late\(tree.id)'")
        }
        target.release()
        for tree in [chain, batch] {
            try queue.wait(for: tree.id, toBe: "succeeded")
            // The count of a joined member may follow a moment after the end that included it.
            try queue.wait(until: "select not exists (select from postrider_internal.tree_deltas)")
            #expect(
                try queue.rows(
                    "select children::text, children_finished::text from postrider.job_status where id = \(tree.id)")
                    == [["2", "2"]])
            refused("PR005", "has ended (succeeded)") {
                try queue.insert("parent_id, url", "\(tree.id), '\(target.url)/ok'")
            }
        }
        let step = try #require(target.requests("/held/1").first)
        #expect(try #require(target.requests("/ok/late\(chain.id)").first).arrivedAt >= #require(step.endedAt))
    }

    @Test(arguments: [3, 150]) func `a batch over a list expands all elements although another member joined earlier`(
        count: Int
    ) throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let list = (1...count).map(String.init).joined(separator: ", ")
        let chain = try queue.number(
            """
            select postrider.submit('{"chain": [{"url": "\(target.url)/held/1"},
              {"name": "fan", "batch": {"each": [\(list)], "do": {"url": "\(target.url)/ok/{{item}}"}}}]}')
            """)
        let batch = try queue.number("select id from postrider.jobs where name = 'fan'")
        try queue.insert("parent_id, url", "\(batch), '\(target.url)/ok/joined'")
        try TestClock.wait(10, for: "the first call") { target.requests.count == 1 }
        target.release()
        try queue.wait(for: chain, toBe: "succeeded")
        #expect(target.requests("/ok/joined").count == 1)
        #expect((1...count).allSatisfy { target.requests("/ok/\($0)").count == 1 })
        try queue.wait(until: "select not exists (select from postrider_internal.tree_deltas)")
        #expect(
            try queue.text("select children_finished::text from postrider.job_status where id = \(batch)")
                == "\(count + 1)")
    }

    @Test func `a chain waits for an open transaction that joins it, then runs the new step`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var chain = TreePlan.chain([.request("\(target.url)/held/1")])
        try chain.insert(into: queue)
        let other = try PGConnection(queue.database)
        try other.execute("begin")
        try other.execute("insert into postrider.jobs (parent_id, url) values (\(chain.id), '\(target.url)/ok/late')")
        target.release()
        try queue.wait(for: chain.members[0].id, toBe: "succeeded")
        // A chain without joining members begins later and ends.
        var free = TreePlan.chain([.request("\(target.url)/ok/free")])
        try free.insert(into: queue)
        try queue.wait(for: free.id, toBe: "succeeded")
        #expect(try queue.state(chain.id) == "running")
        try other.execute("commit")
        try queue.wait(for: chain.id, toBe: "succeeded")
        #expect(target.requests.map(\.path) == ["/held/1", "/ok/free", "/ok/late"])
    }

    @Test func `job_status counts joined members right after their commit, without a running worker`() throws {
        let children = "select children::text, children_finished::text, state from postrider.job_status where kind = "
        for kind in ["chain", "batch"] {
            let root = try queue.number("select postrider.submit('{\"\(kind)\": [{\"url\": \"\(target.url)/ok\"}]}')")
            try queue.insert("parent_id, url", "\(root), '\(target.url)/ok'")
            try queue.insert("parent_id, url", "\(root), '\(target.url)/ok'")
            #expect(try queue.rows(children + "'\(kind)'") == [["3", "0", "running"]])
            try queue.connection.execute("select postrider.cancel(\(root))")
            #expect(try queue.rows(children + "'\(kind)'") == [["3", "3", "cancelled"]])
            // Deltas of an earlier run no longer count.
            try queue.connection.execute("select postrider.retry(\(root))")
            #expect(try queue.rows(children + "'\(kind)'") == [["3", "0", "running"]])
        }
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.waitUntilDone()
        let ended =
            "select distinct children::text, children_finished::text from postrider.job_status where kind <> 'request'"
        #expect(try queue.rows(ended) == [["3", "3"]])
        try queue.wait(until: "select count(*) = 0 from postrider_internal.tree_deltas")
        #expect(try queue.rows(ended) == [["3", "3"]])
    }

    @Test func `100 members that join concurrently get distinct positions, and all run`() throws {
        let worker = try RunningWorker(queue.database, concurrency: 32)
        defer { worker.kill() }
        let release = try queue.insert("kind, mode", "'batch', 'settle'", with: "'\(target.url)/held/first'")
        let (database, url) = (queue.database, target.url)
        let threads = (1...4).map { thread in
            BackgroundThread {
                guard let connection = try? PGConnection(database) else { return }
                for i in 1...25 {
                    try? connection.execute(
                        "insert into postrider.jobs (parent_id, url) values (\(release), '\(url)/ok/\(thread)/\(i)')")
                }
            }
        }
        for thread in threads { thread.join() }
        target.release()
        try queue.wait(for: release, toBe: "succeeded")
        #expect(
            try queue.rows(
                """
                select children::text, children_finished::text,
                       (select max(position) from postrider.job_status where parent_id = \(release))::text
                from postrider.job_status where id = \(release)
                """) == [["101", "101", "101"]])
        #expect(target.requests.count == 101)
    }

    @Test func `16 sessions that join one batch concurrently never get an error`() throws {
        let batch = try queue.insert("kind, run_at", "'batch', now() + interval '1 h'", with: "'http://h/'")
        let database = queue.database
        let refusals = Mutex([String]())
        let threads = (1...16).map { _ in
            BackgroundThread {
                do {
                    let connection = try PGConnection(database)
                    for _ in 1...20 {
                        try connection.execute(
                            "insert into postrider.jobs (parent_id, url) values (\(batch), 'http://h/')")
                    }
                } catch { refusals.withLock { $0.append("\(error)") } }
            }
        }
        for thread in threads { thread.join() }
        #expect(refusals.withLock { $0 } == [])
        #expect(
            try queue.text(
                "select concat_ws(' ', count(*), min(position), max(position)) from postrider_internal.members where parent_id = \(batch)"
            )
                == "321 1 321")
    }

    @Test(arguments: ["parent_id, url", "parent_id, url, name"])
    func `a repeatable-read join that conflicts fails with 40001 and a hint to retry`(columns: String) throws {
        let batch = try queue.insert("kind, run_at", "'batch', now() + interval '1 h'", with: "'http://h/'")
        let values = "(\(batch), 'http://h/'" + (columns.hasSuffix("name") ? ", 'n')" : ")")
        let other = try PGConnection(queue.database)
        try other.execute("begin isolation level repeatable read; select from postrider_internal.members")
        try queue.connection.execute("insert into postrider.jobs (\(columns)) values \(values)")
        let error = #expect(throws: PGError.self) {
            try other.execute("insert into postrider.jobs (\(columns)) values \(values)")
        }
        #expect(error?.sqlState?.rawValue == "40001")
        #expect(error?.hint == "Run the transaction again.")
    }

    @Test func `a member runs although a later position was committed and started before it`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let batch = try queue.insert("kind", "'batch'", with: "'\(target.url)/held/first'")
        let other = try PGConnection(queue.database)
        try other.execute("begin")
        try other.execute(
            "insert into postrider.jobs (parent_id, position, url) values (\(batch), 5, '\(target.url)/ok/fifth')")
        // Position 9 was committed first, so the batch reaches it while position 5 is still invisible.
        try queue.insert("parent_id, position, url", "\(batch), 9, '\(target.url)/ok/ninth'")
        try TestClock.wait(10, for: "the ninth") { target.requests("/ok/ninth").count == 1 }
        try other.execute("commit")
        target.release()
        try queue.wait(for: batch, toBe: "succeeded")
        #expect(target.requests("/ok/fifth").count == 1)
    }
}

extension TestQueue {
    /// Inserts a batch or chain with one member, and returns its id.
    func insert(_ columns: String, _ values: String, with url: String) throws -> Int64 {
        try number(
            """
            with t as (insert into postrider.jobs (\(columns)) values (\(values)) returning id)
            insert into postrider.jobs (parent_id, url) select id, \(url) from t returning parent_id
            """)
    }
}
