// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// `explain` for held jobs: pauses, limits and queues without a worker, and the estimated start of the job.
struct ExplainHoldTests {
    private func explain(_ queue: borrowing TestQueue, _ id: Int64) throws -> String {
        try queue.text("select postrider.explain(\(id))") ?? ""
    }

    /// Registers a worker that is only a row, and sets the time zone to UTC.
    private func enlisted() throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute("set timezone = 'UTC'")
        _ = try queue.connection.query(
            "select worker from postrider_internal.enlist(0, 'w', '0.1.0', null, 2, '{}', '{}')")
        return queue
    }

    /// Gives lane `l` limits. By plain SQL, one call of priority 0 is about to begin.
    private func limit(_ queue: borrowing TestQueue, _ limits: String) throws {
        try queue.connection.execute(
            """
            insert into postrider.lanes (name, max_in_flight, rate_limit, rate_period) values ('l', \(limits));
            insert into postrider_internal.tracks (queue, lane, priority) values ('default', 'l', 0),
              ('default', 'l', 4), ('mail', 'l', 0);
            insert into postrider_internal.lane_permits (lane, worker, permits, wanted) select id, 1, 3, 3
              from postrider.lanes;
            insert into postrider_internal.lane_rates (lane, last_slot) select id, '2999-01-01 10:00+00'
              from postrider.lanes
            """)
    }

    @Test func `explain says that a resumed lane or queue lets a scheduled job run at its run_at`() throws {
        let queue = try enlisted()
        let later = try queue.insert("url, lane, run_at", "'http://h/', 'sp', now() + interval '59 min'")
        let ready = try queue.insert("url, lane", "'http://h/', 'sp'")
        try queue.connection.execute("select postrider.pause_lane('sp')")
        #expect(
            try explain(queue, later).hasSuffix("; select postrider.resume_lane('sp') lets it run at its run_at."))
        #expect(try explain(queue, ready).hasSuffix("; select postrider.resume_lane('sp') lets it run."))
        // The pause is over by then.
        try queue.connection.execute("select postrider.pause_lane('sp', until => now() + interval '50 min')")
        #expect(try !explain(queue, later).contains("paused"))
        #expect(try explain(queue, ready).contains("is paused until "))
        try queue.connection.execute("select postrider.pause_queue('default')")
        #expect(
            try explain(queue, later).hasSuffix(
                ", but its queue default is paused; select postrider.resume_queue('default') lets it run at its run_at."
            ))
    }

    @Test func `explain names each hold of a job and promises only the effect of resuming`() throws {
        let queue = try enlisted()
        try queue.connection.execute("select postrider.pause_queue('mail'), postrider.pause_lane('sp')")
        let both = try queue.insert("url, queue, lane", "'http://h/', 'mail', 'sp'")
        let resume = "; select postrider.resume_queue('mail'), postrider.resume_lane('sp')"
        #expect(try explain(queue, both).hasSuffix("\(resume) lets it run."))
        try queue.connection.execute("update postrider_internal.workers set ended_at = now()")
        let none = "; and no worker takes queue mail now: none is running, start one with worker"
        #expect(
            try explain(queue, both).hasPrefix(
                "Job \(both) is ready, but its queue mail is paused; and its lane sp is paused until it is resumed (reason: "
            ))
        #expect(try explain(queue, both).hasSuffix("\(none)\(resume) ends these pauses."))
        let later = try queue.insert("url, queue, run_at", "'http://h/', 'mail', now() + interval '59 min'")
        let sentence = try explain(queue, later)
        #expect(
            sentence.hasSuffix(
                ", but its queue mail is paused\(none); select postrider.resume_queue('mail') ends that pause."),
            "\(sentence)")
    }

    @Test func `explain gives the number of earlier jobs and the start time in a rate-limited lane`() throws {
        let queue = try enlisted()
        try limit(queue, "null, 1, '1 h'")
        let first = try queue.insert("url, lane", "'http://h/', 'l'")
        try queue.insert(3, "url, lane", "'http://h/', 'l'")
        try queue.insert(2, "url, lane, priority", "'http://h/', 'l', 4")
        let last = try queue.insert("url, lane", "'http://h/', 'l'")
        // A job of another queue gets one turn before.
        try queue.insert("url, lane, queue", "'http://h/', 'l', 'mail'")
        let next =
            "is ready, but its lane l is at its limit of 1 call(s) in 01:00:00 (lanes.rate_limit), "
            + "and its next call begins at about 2999-01-01 11:00:00 UTC"
        #expect(
            try explain(queue, first)
                == "Job \(first) \(next); 2 job(s) of the lane are before it, so this job begins at about 2999-01-01 13:00:00 UTC."
        )
        #expect(
            try explain(queue, last)
                == "Job \(last) \(next); 7 job(s) of the lane are before it, so this job begins at about 2999-01-01 18:00:00 UTC."
        )
        // The next call of the lane may begin now, but this job's call may not.
        try queue.connection.execute("update postrider_internal.lane_rates set last_slot = '-infinity'")
        #expect(try explain(queue, last).contains("; 7 job(s) of the lane are before it, so this job begins at about "))
        try queue.connection.execute("select postrider.pause_queue('mail')")
        #expect(try explain(queue, last).contains("; 6 job(s) of the lane are before it, so this "))
        try queue.connection.execute("select postrider.pause_lane('l')")
        let paused = try explain(queue, last)
        #expect(paused.contains(" UTC at the earliest; 6 job(s)"), "\(paused)")
        #expect(
            paused.contains("; 6 job(s) of the lane are before it; select ") && paused.hasSuffix(" ends that pause."),
            "\(paused)")
    }

    @Test func `explain gives the number of earlier jobs in a lane at its max_in_flight`() throws {
        let queue = try enlisted()
        try limit(queue, "3, null, default")
        try queue.insert(4, "url, lane", "'http://h/', 'l'")
        let id = try queue.insert("url, lane", "'http://h/', 'l'")
        let full = "its lane l is at its limit of 3 call(s) in flight (lanes.max_in_flight)"
        #expect(
            try explain(queue, id) == "Job \(id) is ready, but \(full); 4 job(s) of the lane are before it.")
        try queue.connection.execute("update postrider.lanes set rate_limit = 1, rate_period = '1 h'")
        #expect(
            try explain(queue, id).hasSuffix(
                "; 4 job(s) of the lane are before it, so this job begins at about 2999-01-01 15:00:00 UTC at the earliest."
            ))
        try queue.insert(10_000, "url, lane, priority", "'http://h/', 'l', 4")
        _ = try queue.number("select postrider_internal.feed(array(select id from postrider_internal.intake))")
        #expect(try explain(queue, id).contains("; over 10000 job(s) of the lane are before it, "))
    }

    @Test func `the last job of a rate-limited lane starts within 2 s of the explained time`() throws {
        let target = try TargetServer()
        let queue = try TestQueue()
        try queue.connection.execute(
            "insert into postrider.lanes (name, rate_limit, rate_period) values ('l', 1, '2 s')")
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.insert(4, "url, lane", "'\(target.url)/ok', 'l'")
        let id = try queue.insert("url, lane", "'\(target.url)/ok', 'l'")
        try TestClock.wait(20, for: "a call") { !target.requests.isEmpty }
        let sentence = try explain(queue, id)
        try queue.waitUntilDone()
        let said = try #require(sentence.split(separator: "so this job begins at about ").last, "\(sentence)")
        let late = try queue.number(
            """
            select extract(epoch from started_at - '\(said.dropLast())'::timestamptz)::bigint
              from postrider.attempts where job_id = \(id)
            """)
        #expect(abs(late) <= 2, "\(sentence) \(late)")
    }
}
