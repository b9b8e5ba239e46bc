// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// A worker that asks for a new number, with the leases that it still needs.
struct EnlistTests {
    private let enlist = "select worker, held::text from postrider_internal.enlist"
    private let start = "00000000-0000-4000-8000-00000000000a"

    /// The number of a worker with one lease, whose fence is 77.
    private func leased(_ queue: borrowing TestQueue) throws -> Int64 {
        let worker = try queue.number("\(enlist)(0, 'a', '0', null, 8, '{}', '{}', p_start => '\(start)')")
        try queue.connection.execute(
            """
            insert into postrider_internal.tracks (queue, lane, priority) values ('default', 'h:80', 0);
            insert into postrider.jobs (url) values ('http://h:80/');
            update postrider_internal.ready set worker = \(worker), fence = 77, attempt = 1, since = now();
            update postrider_internal.workers set in_flight = 1
            """)
        return worker
    }

    private func again(_ old: Int64, start: String? = nil, fence: Int = 77) -> String {
        """
        from postrider_internal.ready r, postrider_internal.enlist(
          \(old)::int, 'a', '0', null, 8, array[r.track], array[r.seq], 'release', array[\(fence)]::bigint[],
          '\(start ?? self.start)', (select i.id from postrider_internal.identities i order by i.number desc limit 1)) e
        """
    }

    @Test func `a repeated enlist moves the worker's leases to its new number each time`() throws {
        let queue = try TestQueue()
        let first = try leased(queue)
        for _ in 1...3 {
            #expect(try queue.number("select cardinality(e.held) \(again(first))") == 1)
        }
        #expect(
            try queue.number("select count(*) from postrider_internal.workers where ended_at is null and not lost") == 1
        )
        #expect(
            try queue.number("select worker from postrider_internal.ready")
                == queue.number("select id from postrider_internal.workers where ended_at is null"))
    }

    @Test(arguments: [(78, false), (77, true)])
    func `enlist does not move leases with another fence or of a worker declared lost`(fence: Int, isLost: Bool) throws
    {
        let queue = try TestQueue()
        let first = try leased(queue)
        let second = try queue.number("select e.worker \(again(first))")
        try queue.connection.execute("update postrider_internal.workers set lost = \(isLost) where id = \(first)")
        #expect(try queue.number("select cardinality(e.held) \(again(first, fence: fence))") == 0)
        #expect(try queue.number("select worker from postrider_internal.ready") == second)
    }
}
