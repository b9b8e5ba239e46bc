// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Where a cursor stands in requests and answers, how lists end that have no last page, and `has_more`.
struct PagePlaceTests {
    @Test func `retry from the start removes the pages of a job, also of a member`() throws {
        let target = try TargetServer { request in
            let page = Int(request.path.split(separator: "=").last ?? "") ?? 0
            if request.path == "/wait" { return [.held] + TargetStep.answer(200) }
            return TargetStep.answer(200, page > 2 ? "[]" : "[\(page)]")
        }
        let queue = try TestQueue()
        let worker = try RunningWorker(queue.database)
        let root = try queue.number(
            """
            select postrider.submit('{"batch": [{"name": "wait", "url": "\(target.url)/wait"},
              {"name": "list", "url": "\(target.url)/list", "paginate": {"style": "page", "param": "page"}}]}')
            """)
        let list = try queue.number("select id from postrider.jobs where name = 'list'")
        try queue.wait(for: list, toBe: "succeeded")
        let error = #expect(throws: PGError.self) { try queue.connection.execute("select postrider.retry(\(list))") }
        #expect(error?.sqlState?.rawValue == "PR005")
        #expect(
            error?.hint
                == "select postrider.retry(\(list), from_start => true) removes its pages and fetches the list again.")
        try queue.connection.execute("select postrider.retry(\(list), from_start => true)")
        try TestClock.wait(20, for: "both rounds") { target.requests("/list?page=3").count == 2 }
        target.release()
        try queue.wait(for: root, toBe: "succeeded")
        #expect(try queue.text("select result::text from postrider.job_status where id = \(list)") == "[1, 2]")
        let plain = try queue.number("select id from postrider.jobs where name = 'wait'")
        let refusal = #expect(throws: PGError.self) {
            try queue.connection.execute("select postrider.retry(\(plain), from_start => true)")
        }
        #expect(refusal?.column == "from_start" && refusal?.sqlState?.rawValue == "PR001")
        #expect(try queue.number("select count(*) from postrider.job_status where has_more is null") == 2)
        _ = worker
    }
}
