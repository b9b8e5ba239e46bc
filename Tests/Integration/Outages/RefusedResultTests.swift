// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// An operator's trigger that raises an error for the result of one job.
struct RefusedResultTests {
    @Test func `a trigger that refuses one job's result lets all other jobs end`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            create function public.refuse() returns trigger language plpgsql as $$
            begin
              if new.job_id = 7 then
                raise exception 'not this one';
              end if;
              return new;
            end $$;
            create trigger refuse before insert
              on postrider_internal.results for each row execute function public.refuse()
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.insert(20, "url", "'\(target.url)/ok/' || i")
        try queue.wait(until: "select count(*) = 19 from postrider_internal.results")
        try queue.insert(20, "url", "'\(target.url)/ok/' || 20 + i")
        try queue.wait(until: "select count(*) = 39 from postrider_internal.results")
        #expect(worker.output.contains("not this one (SQLSTATE P0001)"))
        try queue.connection.execute("drop trigger refuse on postrider_internal.results")
        // The worker retries after 40 s at most.
        try queue.wait(60, until: "select count(*) = 40 from postrider_internal.results")
        #expect(target.requests.count == 40)
    }
}
