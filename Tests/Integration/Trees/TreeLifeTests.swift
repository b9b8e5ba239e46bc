// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// Cancels, reschedules, retries and lost workers inside batches and chains.
final class TreeLifeTests {
    private let target: TargetServer
    private let queue: TestQueue

    init() throws {
        target = try TargetServer()
        queue = try TestQueue()
    }

    private func call(_ path: String) -> TreePlan { .request(target.url + path) }

    private func states(_ plan: TreePlan) throws -> [String?] { try plan.all.map { try queue.state($0.id) } }

    private func cancel(_ id: Int64) throws { try queue.connection.execute("select postrider.cancel(\(id))") }

    private func waitUntilDrained() throws {
        try queue.wait(
            until: """
                select not exists (select from postrider_internal.trees where is_draining)
                  and not exists (select from postrider_internal.ready)
                   and not exists (select from postrider_internal.tree_deltas)
                     and not exists (select from postrider_internal.aborts)
                """)
    }

    @Test(arguments: ["false", "true"])
    func `members that a succeeded batch cancels count as failed but do not permit a retry`(
        notify: String
    )
        throws
    {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let root = try queue.number(
            """
            select postrider.submit('{"mode": "first", "batch": [
              {"url": "\(target.url)/hang/a", "notify": \(notify)}, {"url": "\(target.url)/held"},
              {"url": "\(target.url)/hang/b", "notify": \(notify)}]}')
            """)
        try TestClock.wait(10, for: "three calls") { target.underWay == 3 }
        target.release()
        try queue.waitUntilDone()
        try queue.wait(until: "select children_finished = 3 from postrider.job_status where id = \(root)")
        let row =
            "select state, children_failed::text, failed_job_id::text from postrider.job_status where id = \(root)"
        #expect(try queue.rows(row) == [["succeeded", "2", nil]])
        let error = try #require(throws: PGError.self) {
            try queue.connection.execute("select postrider.retry(\(root))")
        }
        #expect(error.message.hasSuffix("it has succeeded, and a retry would change nothing"))
    }

    @Test(arguments: ["false", "true"])
    func `a member that a user cancels while its batch ends counts as failed`(notify: String) throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let root = try queue.number(
            """
            select postrider.submit('{"mode": "first", "batch": [
              {"url": "\(target.url)/hang", "notify": \(notify)}, {"url": "\(target.url)/held"}]}')
            """)
        let member = try queue.number("select min(job_id) from postrider_internal.members where parent_id = \(root)")
        try TestClock.wait(10, for: "two calls") { target.underWay == 2 }
        let holder = try PGConnection(queue.database)
        try holder.execute("begin; select from postrider_internal.ready where job_id = \(member) for update")
        let database = queue.database
        let person = BackgroundThread {
            _ = try? PGConnection(database).query("select postrider.cancel(\(member))")
        }
        try queue.waitUntilBlocked("select postrider.cancel")
        target.release()
        try queue.wait(until: "select state = 's' from postrider_internal.trees where job_id = \(root)")
        try holder.execute("commit")
        person.join()
        try queue.wait(until: "select children_finished = 2 from postrider.job_status where id = \(root)")
        #expect(
            try queue.text("select error from postrider.job_status where id = \(member)")
                == "cancelled while it was running")
        #expect(
            try queue.rows("select state, children_failed::text from postrider.job_status where id = \(root)")
                == [["succeeded", "1"]])
    }

    @Test func `cancel of a tree ends all jobs below and aborts running calls within a second`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var tree = TreePlan.chain([
            call("/ok/1"), .batch([call("/hang/2"), .chain([call("/hang/3"), call("/ok/4")])]), call("/ok/5"),
        ])
        try tree.insert(into: queue)
        try TestClock.wait(10, for: "two calls") { target.underWay == 2 }
        let cancelled = TestClock.now
        try cancel(tree.id)
        #expect(try queue.state(tree.id) == "cancelled")
        try TestClock.wait(10, for: "the end of the calls") { target.underWay == 0 }
        for request in target.requests where request.path.hasPrefix("/hang") {
            #expect(request.isAborted)
            #expect(try #require(request.endedAt) - cancelled < Soak.nanoseconds(1))
        }
        try waitUntilDrained()
        #expect(
            try states(tree) == [
                "cancelled", "succeeded", "cancelled", "cancelled", "cancelled", "cancelled", "cancelled", "cancelled",
            ])
        #expect(try queue.text("select postrider.cancel(\(tree.id))::text") == "false")
    }

    @Test func `cancel of a waiting or running member fails its batch or chain`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var running = TreePlan.batch([call("/hang/1"), call("/hang/2")])
        var waiting = TreePlan.chain([call("/hang/3"), call("/ok/4"), .batch([call("/ok/5")])])
        var deep = TreePlan.chain([call("/hang/6"), .batch([call("/ok/7")]), call("/ok/8")])
        try running.insert(into: queue)
        try waiting.insert(into: queue)
        try deep.insert(into: queue)
        try TestClock.wait(10, for: "four calls") { target.underWay == 4 }
        try cancel(running.members[0].id)
        try cancel(waiting.members[1].id)
        try cancel(deep.members[1].id)
        for tree in [running, waiting, deep] { try queue.wait(for: tree.id, toBe: "failed") }
        try waitUntilDrained()
        #expect(try states(running) == ["failed", "cancelled", "cancelled"])
        #expect(try states(waiting) == ["failed", "cancelled", "cancelled", "skipped", "skipped"])
        #expect(try states(deep) == ["failed", "cancelled", "cancelled", "cancelled", "skipped"])
        #expect(
            try queue.number("select failed_job_id from postrider.job_status where id = \(waiting.id)")
                == waiting.members[1].id)
        try TestClock.wait(5, for: "the end of the calls") { target.underWay == 0 }
    }

    @Test func `a chain stops at a step that is cancelled while the step before it ends`() throws {
        var chain = TreePlan.chain([call("/ok/1"), call("/ok/2"), call("/ok/3")])
        try chain.insert(into: queue)
        let other = try PGConnection(queue.database)
        // Locks the chain's row as finish does, while a user cancels the next step.
        try queue.connection.execute(
            "begin; select from postrider_internal.trees where job_id = \(chain.id) for update")
        try other.execute("select postrider.cancel(\(chain.members[1].id))")
        try queue.connection.execute(
            """
            select postrider_internal.settle_tree(\(chain.id), t.run, 'client', p_finished => 1, p_succeeded => 1)
            from postrider_internal.trees t where t.job_id = \(chain.id);
            commit
            """)
        #expect(try queue.state(chain.members[2].id) == "waiting")
        #expect(try queue.state(chain.members[1].id) == "cancelled")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(for: chain.id, toBe: "failed")
        #expect(try queue.state(chain.members[2].id) == "skipped")
        #expect(target.requests("/ok/3").isEmpty)
    }

    @Test func `cancel_all cancels a tree with all jobs below it`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var tree = TreePlan.chain([.batch([call("/hang/1"), call("/hang/2")]), call("/ok/3")])
        try tree.insert(into: queue)
        try TestClock.wait(10, for: "two calls") { target.underWay == 2 }
        #expect(try queue.number("select postrider.cancel_all(queue => 'default')") == 1)
        try waitUntilDrained()
        #expect(try Set(states(tree)) == ["cancelled"])
    }

    @Test func `members and trees that have not started by expires_at expire`() throws {
        let worker = try RunningWorker(queue.database, ["--queue", "other"])
        defer { worker.kill() }
        let batch = try queue.insert("kind, mode", "'batch', 'settle'", with: "'\(target.url)/ok/1'")
        let member = try queue.insert(
            "parent_id, url, expires_at", "\(batch), '\(target.url)/ok/2', now() + interval '300 ms'")
        let tree = try queue.insert(
            "kind, expires_at", "'batch', now() + interval '300 ms'", with: "'\(target.url)/ok/3'")
        try queue.wait(for: member, toBe: "expired")
        try queue.wait(for: tree, toBe: "expired")
        #expect(try queue.text("select error_code from postrider.job_status where id = \(tree)") == "expired")
        #expect(try queue.state(batch) == "running")
        #expect(try queue.number("select children_failed from postrider.job_status where id = \(batch)") == 1)
        #expect(target.requests.isEmpty)
    }

    @Test func `if expires_at passes between two steps, the next step expires and the chain fails`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try worker.wait(for: "enlisted")
        let url = target.url
        let chain = try queue.insert(
            "kind, expires_at", "'chain', now() + interval '5 s'", with: "'\(url)/held/1'")
        let second = try queue.insert("parent_id, url", "\(chain), '\(url)/ok/2'")
        let third = try queue.insert("parent_id, url", "\(chain), '\(url)/ok/3'")
        try queue.wait(until: "select expires_at < clock_timestamp() from postrider.jobs where id = \(chain)")
        target.release()
        try queue.wait(for: chain, toBe: "failed")
        #expect(try queue.state(second) == "expired")
        #expect(try queue.state(third) == "skipped")
        #expect(target.requests.map(\.path) == ["/held/1"])
    }

    @Test func `no member of a tree starts before the run_at of the tree`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let batch = try queue.insert("kind, run_at", "'batch', now() + interval '1 s'", with: "'\(target.url)/ok/1'")
        #expect(try queue.state(batch) == "scheduled")
        #expect(try queue.text("select postrider.explain(\(batch))")?.contains("none begins before") == true)
        try queue.wait(for: batch, toBe: "succeeded")
        #expect(
            try queue.text(
                """
                select (m.started_at >= b.run_at)::text from postrider.job_status m, postrider.job_status b
                where b.id = \(batch) and m.parent_id = b.id
                """) == "true")
    }

    @Test func `a tree cancelled in its inserting transaction counts all members as finished`() throws {
        try queue.connection.execute("begin")
        let spec = #"{"batch": [{"url": "http://h/"}, {"chain": [{"url": "http://h/"}, {"url": "http://h/"}]}]}"#
        let batch = try queue.number("select postrider.submit('\(spec)')")
        #expect(try queue.text("select postrider.cancel(\(batch))::text") == "true")
        try queue.connection.execute("commit")
        let counts = try queue.rows(
            """
            select kind, state, children::text, children_finished::text from postrider.job_status
             where kind <> 'request' order by id
            """)
        #expect(counts == [["batch", "cancelled", "2", "2"], ["chain", "cancelled", "2", "2"]])
    }

    @Test func `submit works after set constraints all immediate`() throws {
        let spec = #"{"chain": [{"url": "http://h/1"}, {"batch": [{"url": "http://h/2"}]}]}"#
        try queue.connection.execute("begin; set constraints all immediate")
        let chain = try queue.number("select postrider.submit('\(spec)')")
        try queue.connection.execute("commit")
        #expect(try queue.number("select children from postrider.job_status where id = \(chain)") == 2)
        #expect(try queue.number("select count(*) from postrider_internal.ready") == 1)
    }

    @Test func `a tree cancelled before run_at has no started_at, and skip errors name chain or batch`() throws {
        let later = try queue.number(
            "select postrider.submit('{\"run_at\": \"2100-01-01\", \"chain\": [{\"url\": \"http://h/\"}]}')")
        try cancel(later)
        let started = "select count(*) from postrider.job_status where id >= \(later) and started_at is not null"
        #expect(try queue.number(started) == 0)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let chain = try queue.number(
            "select postrider.submit('{\"chain\": [{\"url\": \"\(target.url)/status/404\"}, {\"batch\": [{\"url\": \"http://h/\"}]}]}')"
        )
        try queue.wait(for: chain, toBe: "failed")
        try waitUntilDrained()
        let words = try queue.rows(
            "select error from postrider.job_status where id > \(chain) and state = 'skipped' order by id")
        #expect(
            words == [
                ["skipped: chain \(chain) ended before this job began"],
                ["skipped: batch \(chain + 2) ended before this job began"],
            ])
    }

    @Test func `retry of a tree runs only the jobs that have not succeeded`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var tree = TreePlan.chain([
            call("/ok/1"), .batch([call("/ok/2"), call("/status/404,200/3")], mode: "all"),
            .batch([call("/ok/4"), call("/ok/5")]),
        ])
        try tree.insert(into: queue)
        try queue.wait(for: tree.id, toBe: "failed")
        try waitUntilDrained()
        try queue.connection.execute("select postrider.retry(\(tree.id))")
        try queue.wait(for: tree.id, toBe: "succeeded")
        #expect(try Set(states(tree)) == ["succeeded"])
        #expect(target.requests("/ok/1").count == 1)
        #expect(target.requests("/status/404,200/3").count == 2)
        #expect(
            try queue.rows(
                "select distinct (children = children_finished and children_failed = 0)::text, failed_job_id::text from postrider.job_status where kind <> 'request'"
            )
                == [["true", nil]])
        #expect(throws: PGError.self) { try queue.connection.execute("select postrider.retry(\(tree.id))") }
    }

    @Test func `retry of a member works while its batch runs and is refused afterwards`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var batch = TreePlan.batch([call("/status/404,200/1"), call("/held/2")], mode: "settle")
        try batch.insert(into: queue)
        try queue.wait(for: batch.members[0].id, toBe: "failed")
        try queue.wait(until: "select children_failed = 1 from postrider.job_status where id = \(batch.id)")
        try queue.connection.execute("select postrider.retry(\(batch.members[0].id))")
        target.release()
        try queue.wait(for: batch.id, toBe: "succeeded")
        #expect(try Set(states(batch)) == ["succeeded"])
        #expect(
            try queue.rows(
                """
                select children::text, children_finished::text, children_failed::text, failed_job_id::text
                from postrider.job_status where id = \(batch.id)
                """) == [["2", "2", "0", nil]])
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("select postrider.retry(\(batch.members[0].id))")
        }
        #expect(error?.sqlState?.rawValue == "PR005")
    }

    @Test func `another worker repeats the calls of a killed worker, and the tree succeeds`() throws {
        // The first call of each path never ends; the second does.
        let target = try TargetServer { request in
            request.path.hasPrefix("/ok") || request.turn > 1 ? TargetStep.answer(200) : [.hang]
        }
        let first = try RunningWorker(queue.database)
        var tree = TreePlan.chain([
            .batch([.request("\(target.url)/lost/1"), .request("\(target.url)/lost/2")]), .request("\(target.url)/ok"),
        ])
        try tree.insert(into: queue)
        try TestClock.wait(10, for: "two calls") { target.underWay == 2 }
        first.end(SIGKILL)
        let second = try RunningWorker(queue.database)
        defer { second.kill() }
        try queue.wait(30, for: tree.id, toBe: "succeeded")
        #expect(target.requests.count == 5)
    }

    @Test func `a worker that gets SIGTERM ends its step and leaves the next step to another worker`() throws {
        let first = try RunningWorker(queue.database)
        var chain = TreePlan.chain([call("/wait/2000/1"), call("/ok/2"), call("/ok/3")])
        try chain.insert(into: queue)
        try TestClock.wait(10, for: "a call") { target.underWay == 1 }
        #expect(first.end(SIGTERM) == 0)
        #expect(try queue.state(chain.members[0].id) == "succeeded")
        #expect(target.requests.count == 1)
        let second = try RunningWorker(queue.database)
        defer { second.kill() }
        try queue.wait(for: chain.id, toBe: "succeeded")
        #expect(try queue.number("select max(attempt) from postrider.job_status") == 1)
    }

    @Test func `explain says what a member waits for`() throws {
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        var chain = TreePlan.chain([call("/hang/1"), .batch([call("/ok/2")])])
        var batch = TreePlan.batch([call("/hang/3"), call("/ok/4")], maxParallel: 1)
        try chain.insert(into: queue)
        try batch.insert(into: queue)
        try TestClock.wait(10, for: "two calls") { target.underWay == 2 }
        func explain(_ plan: TreePlan) throws -> String { try queue.text("select postrider.explain(\(plan.id))") ?? "" }
        let (step, inner) = (chain.members[1], chain.members[1].members[0])
        #expect(
            try explain(step)
                == "Job \(step.id) is waiting: it is step 2 of chain \(chain.id), which is at job \(chain.members[0].id); see explain(\(chain.members[0].id))."
        )
        #expect(
            try explain(inner)
                == "Job \(inner.id) is waiting: it is part of batch \(step.id), which has not begun; see explain(\(step.id))."
        )
        #expect(
            try explain(batch.members[1])
                == "Job \(batch.members[1].id) is waiting: batch \(batch.id) runs 1 member(s) at once (max_parallel), and others came first."
        )
        #expect(
            try explain(chain)
                == "Job \(chain.id) is running: 0 of the 2 members of this chain have ended so far, 1 are under way and 1 wait."
        )
        #expect(try queue.state(inner.id) == "waiting")
        try cancel(chain.id)
        try cancel(batch.id)
        #expect(try explain(chain).contains("was cancelled at"))
    }

    @Test func `explain of a batch gives the hold of its first waiting member`() throws {
        let queue = try TestQueue()
        let id = try queue.number(
            "select postrider.submit('{\"batch\": [{\"url\": \"http://h/1\", \"lane\": \"l\"}, {\"url\": \"http://h/2\", \"lane\": \"l\"}]}')"
        )
        try queue.connection.execute("select postrider.pause_lane('l')")
        let sentence = try queue.text("select postrider.explain(\(id))") ?? ""
        #expect(
            sentence.contains("0 are under way and 2 wait. Job \(id + 1) is ready, but its lane l is paused"),
            "\(sentence)")
    }
}
