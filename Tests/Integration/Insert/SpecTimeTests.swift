// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Times in a spec for jobs that a worker makes later, in a session with another time zone and date style.
struct SpecTimeTests {
    private let target: TargetServer

    init() throws {
        target = try TargetServer { _ in TargetStep.answer(200, "[1, 2]") }
    }

    /// A client session in New York's time zone, with dates that begin with the day.
    private func client(of queue: borrowing TestQueue) throws -> PGConnection {
        let client = try PGConnection(queue.database)
        try client.execute("set timezone = 'America/New_York'; set datestyle = 'ISO, DMY'")
        try queue.connection.execute("set timezone = 'UTC'; set datestyle = 'ISO, MDY'")
        return client
    }

    @Test func `members of an each get the same times as a step of the same spec`() throws {
        let queue = try TestQueue()
        let client = try client(of: queue)
        let times = #""run_at": "01/07/2027 09:00", "expires_at": "25/12/2027""#
        let root = try client.query(
            """
            select postrider.submit('{"chain": [
              {"name": "list", "url": "\(target.url)/list"},
              {"batch": {"each": "{{list.body}}", "do": {"chain": [
                {"url": "\(target.url)/{{item}}", "tag": "made", \(times), "metadata": {\(times)}},
                {"batch": {"each": [1], "do": {"url": "\(target.url)/in", \(times)}}, "tag": "inner"}]}}},
              {"url": "\(target.url)/step", "tag": "step", \(times)}]}')
            """
        ).int64(0, 0)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(until: "select count(*) = 2 from postrider.jobs where tag = 'made'")
        #expect(
            try queue.rows(
                "select distinct run_at::text, expires_at::text from postrider.jobs where tag in ('made', 'step')")
                == [["2027-07-01 13:00:00+00", "2027-12-25 05:00:00+00"]])
        // Values that are sent or stored may have such keys too.
        #expect(
            try queue.rows("select distinct metadata ->> 'run_at' from postrider.jobs where tag = 'made'")
                == [["01/07/2027 09:00"]])
        #expect(
            try queue.rows("select distinct each -> 'do' ->> 'run_at' from postrider.jobs where tag = 'inner'")
                == [["2027-07-01T09:00:00-04:00"]])
        #expect(try queue.state(root) == "running")
    }

    @Test func `now and tomorrow in an each mean the time of the INSERT`() throws {
        let queue = try TestQueue()
        let client = try client(of: queue)
        let each = """
            {"list": [\((1...150).map(String.init).joined(separator: ","))],
             "do": {"url": "\(target.url)/{{item}}", "tag": "made", "run_at": "now", "expires_at": "tomorrow"}}
            """
        try client.execute(
            """
            insert into postrider.jobs (kind, each) values ('batch', '\(each)');
            insert into postrider.jobs (url, tag, run_at, expires_at) values ('\(target.url)/plain', 'plain', 'now',
                'tomorrow')
            """)
        let worker = try RunningWorker(queue.database)
        defer { worker.kill() }
        try queue.wait(
            until: "select count(*) = 150 from postrider.job_status where tag = 'made' and state = 'succeeded'")
        #expect(
            try queue.number("select count(distinct expires_at) from postrider.jobs where tag in ('made', 'plain')")
                == 1)
        #expect(
            try queue.number("select count(distinct run_at) from postrider.jobs where tag in ('made', 'plain')") <= 2)
    }

    @Test func `an invalid time in a spec is refused with its place`() throws {
        let queue = try TestQueue()
        let client = try client(of: queue)
        let error = #expect(throws: PGError.self) {
            try client.execute(
                """
                select postrider.submit('{"batch": {"each": [1], "do": {"chain": [{"url": "http://h/{{item}}", "run_at": "12/25/2027"}]}}}')
                """)
        }
        #expect(error?.message.hasPrefix("$.batch.do.chain[0].run_at: ") == true, "\(error?.message ?? "")")
    }

    @Test func `a schedule stores absolute times with their zone and keeps words like tomorrow`() throws {
        let queue = try TestQueue()
        let client = try client(of: queue)
        try client.execute(
            """
            insert into postrider.schedules (name, cron, spec) values ('s', '@daily', '{"chain": [
              {"url": "http://h/1", "run_at": "01/07/2027 09:00"}, {"url": "http://h/2", "expires_at": "tomorrow"}]}')
            """)
        #expect(
            try queue.rows(
                "select spec #>> '{chain,0,run_at}', spec #>> '{chain,1,expires_at}' from postrider.schedules")
                == [["2027-07-01T09:00:00-04:00", "tomorrow"]])
        try queue.connection.execute("select postrider.run_schedule('s')")
        #expect(
            try queue.rows("select run_at::text from postrider.jobs where url = 'http://h/1'") == [
                ["2027-07-01 13:00:00+00"]
            ])
    }
}
