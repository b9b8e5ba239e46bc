// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Functions for administrators with arguments that make no sense. Each raises an error instead of doing nothing.
struct AdminArgumentTests {
    @Test(arguments: [
        ("cancel(null)", "id"), ("retry(null)", "id"), ("retry(1, null)", "new_key"), ("explain(null)", "id"),
        ("retry(1, from_start => null)", "from_start"),
        ("rerun_callback(null)", "id"), ("reschedule(null, now())", "id"), ("reschedule(1)", "run_at"),
        ("log_out(null)", "credential"), ("log_in(null, '{}')", "credential"), ("pause_lane(null)", "lane"),
        ("resume_lane(null)", "lane"), ("pause_queue(null)", "queue"), ("resume_queue(null)", "queue"),
        ("run_schedule(null)", "name"), ("retry_failed(error_code => 'nonsense')", "error_code"),
        ("retry_failed(since => now() + interval '1 day')", "since"), ("retry_failed(since => 'infinity')", "since"),
    ])
    func `a senseless argument is refused with its name and a hint`(call: String, argument: String) throws {
        let connection = try PGConnection(Shared.database.get())
        let error = try #require(throws: PGError.self) { try connection.execute("select postrider.\(call)") }
        #expect(error.sqlState?.rawValue == "PR001", "\(error)")
        #expect(error.message.hasPrefix("\(argument): "), "\(error.message)")
        #expect(error.column == argument)
        #expect(error.hint?.isEmpty == false)
    }

    @Test func `null filters match all jobs, and repeated pause or resume raises no error`() throws {
        let queue = try TestQueue()
        let id = try queue.insert("url", "'http://h/'")
        #expect(try queue.number("select postrider.retry_failed(null, null, null)") == 0)
        #expect(try queue.number("select postrider.retry_failed('default', 'timeout', '-infinity')") == 0)
        try queue.connection.execute("select postrider.resume_lane('h:80'), postrider.resume_queue('mail')")
        try queue.connection.execute("select postrider.pause_queue('mail'), postrider.pause_queue('mail')")
        #expect(try queue.number("select count(*) from postrider.queues where paused") == 1)
        #expect(try queue.number("select postrider.cancel_all(null, null, null)") == 1)
        #expect(try queue.state(id) == "cancelled")
    }

    /// One database for all refused calls, which leave it unchanged.
    private enum Shared {
        static let database = Result { () throws -> String in try TestQueue.makeDatabase() }
    }
}
