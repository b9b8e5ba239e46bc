// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// `children_failed` in all kinds of batches and chains.
struct MemberCountTests {
    /// Counts each member that ended neither as succeeded nor as skipped.
    ///
    /// The first failure ends the other members of a batch, and cancelling ends all. A failed chain skips the later
    /// steps. With `notify`, the end of a member goes through `outcomes`, which counts members in another statement.
    ///
    /// In a spec, `U/` stands for the target's URL and `N}` for the `notify` of a member.
    @Test(
        arguments: [
            (#"{"batch": [{"url": "U/hang/a", N}, {"url": "U/no", N}, {"url": "U/hang/b", N}]}"#, false, "failed", "3"),
            (
                #"{"max_parallel": 1, "batch": [{"url": "U/no", N}, {"url": "U/ok", N}, {"batch": [{"url": "U/ok"}], N}]}"#,
                false, "failed", "3"
            ),
            (
                #"{"chain": [{"url": "U/ok", N}, {"url": "U/no", N}, {"url": "U/ok", N}, {"url": "U/ok", N}]}"#, false,
                "failed", "1"
            ),
            (#"{"chain": [{"url": "U/ok", N}, {"url": "U/hang/a", N}, {"url": "U/ok", N}]}"#, true, "cancelled", "2"),
            (#"{"mode": "settle", "batch": [{"url": "U/no", N}, {"url": "U/hang/a", N}]}"#, true, "cancelled", "2"),
        ], ["false", "true"])
    func `children_failed counts failed and cancelled members`(
        plan: (spec: String, isCancelled: Bool, state: String, failed: String), notify: String
    ) throws {
        let target = try TargetServer { request in
            request.path.hasPrefix("/hang")
                ? [.pause(milliseconds: 60_000)] : TargetStep.answer(request.path == "/no" ? 404 : 200, "{}")
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let spec = plan.spec.replacing("U/", with: target.url + "/").replacing("N}", with: "\"notify\": \(notify)}")
        let root = try queue.number("select postrider.submit('\(spec)')")
        if plan.isCancelled {
            try TestClock.wait(20, for: "the call that hangs") { target.requests.contains { $0.path == "/hang/a" } }
            if spec.contains("/no") {
                try queue.wait(until: "select children_failed = 1 from postrider.job_status where id = \(root)")
            }
            try queue.connection.execute("select postrider.cancel(\(root))")
        }
        try queue.waitUntilDone()
        try queue.wait(until: "select children_finished = children from postrider.job_status where id = \(root)")
        #expect(
            try queue.rows("select state, children_failed::text from postrider.job_status where id = \(root)") == [
                [plan.state, plan.failed]
            ])
    }
}
