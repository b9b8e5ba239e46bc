// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

struct MaxRedirectTests {
    /// A target where `/N` redirects to `/N-1`, and `/0` answers.
    private static func target() throws -> TargetServer {
        try TargetServer { request in
            let hops = Int(request.path.dropFirst()) ?? 0
            return hops == 0
                ? TargetStep.answer(200) : TargetStep.answer(302, headers: ["Location: /\(hops - 1)"])
        }
    }

    @Test(arguments: [
        ("0", 1, "failed http_status 302"), ("0", 0, "succeeded 200"), ("2", 2, "succeeded 200"),
        ("2", 3, "failed denied_redirect 302"), ("10", 10, "succeeded 200"), ("null", 5, "succeeded 200"),
        ("null", 6, "failed denied_redirect 302"),
    ])
    func `a job follows at most max_redirects redirects, 5 by default`(most: String, hops: Int, end: String) throws {
        let target = try Self.target()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert("url, max_redirects", "'\(target.url)/\(hops)', \(most)")
        try queue.waitUntilDone()
        let sql = "select concat_ws(' ', state, error_code, status_code) from postrider.job_status where id = \(id)"
        #expect(try queue.text(sql) == end)
    }

    @Test func `a 3xx listed in ok_statuses is the answer and keeps its Location`() throws {
        let target = try Self.target()
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        let id = try queue.insert(
            "method, url, max_redirects, ok_statuses", "'POST', '\(target.url)/7', 0, '{[300,400)}'")
        try queue.wait(for: id, toBe: "succeeded")
        let sql = "select response_headers #>> '{location,0}' from postrider.job_status where id = \(id)"
        #expect(try queue.text(sql) == "/6" && target.requests.count == 1)
    }

    @Test(arguments: ["-1", "11"])
    func `INSERT refuses a max_redirects outside 0 to 10`(most: String) throws {
        let error = #expect(throws: PGError.self) {
            try TestQueue().insert("url, max_redirects", "'http://h/', \(most)")
        }
        #expect(error?.message == "jobs.max_redirects: \(most) is out of range")
    }
}
