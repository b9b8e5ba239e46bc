// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The rule that sets a server aside, called with given calls, errors and times.
struct ServerRuleTests {
    /// Applies the rule to a server with these counters, `age` seconds after its window began.
    ///
    /// Returns state, calls, errors, recent calls and recent errors.
    private func weigh(
        _ queue: borrowing TestQueue, older: (Int, Int) = (0, 0), recent: (Int, Int) = (0, 0), age: Int = 1,
        new: (Int, Int)
    ) throws -> String? {
        try queue.text(
            """
            select concat_ws(' ', w.state, w.calls, w.errors, w.recent_calls, w.recent_errors)
            from postrider.servers s join postrider.services v on v.name = s.service
            cross join lateral (
              select (jsonb_populate_record(s, jsonb_build_object(
                'calls', \(older.0 + recent.0), 'errors', \(older.1 + recent.1),
                'recent_calls', \(recent.0), 'recent_errors', \(recent.1)))).*) k
            cross join lateral postrider_internal.update_server_state(
              row(k.*)::postrider.servers, v, \(new.0), \(new.1), s.window_began + interval '\(age) s') w
            """)
    }

    private func queue() throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.services (name) values ('api');
            insert into postrider.servers (service, position, base_url) values ('api', 1, 'http://one/')
            """)
        return queue
    }

    @Test func `a server is set aside after at least 40 calls with at least 10 % errors`() throws {
        let queue = try queue()
        #expect(try weigh(queue, new: (40, 4)) == "aside 40 4 40 4")
        #expect(try weigh(queue, new: (40, 3)) == "active 40 3 40 3")
        #expect(try weigh(queue, new: (39, 39)) == "active 39 39 39 39")
        #expect(try weigh(queue, recent: (39, 39), new: (1, 0)) == "aside 40 39 40 39")
        #expect(try weigh(queue, recent: (1000, 0), new: (100, 100)) == "active 1100 100 1100 100")
        #expect(try weigh(queue, recent: (900, 0), new: (100, 100)) == "aside 1000 100 1000 100")
    }

    @Test func `recent errors count despite a long good past, and few calls extend the window`() throws {
        let queue = try queue()
        // After ten seconds a new window begins. The previous window still counts together with it.
        #expect(try weigh(queue, recent: (9000, 0), age: 10, new: (40, 4)) == "aside 9040 4 40 4")
        #expect(try weigh(queue, older: (9000, 0), recent: (40, 2), age: 10, new: (5, 3)) == "aside 45 5 5 3")
        // With too few calls, the window stays for five minutes.
        #expect(try weigh(queue, recent: (20, 1), age: 60, new: (1, 0)) == "active 21 1 21 1")
        #expect(try weigh(queue, recent: (20, 1), age: 300, new: (1, 0)) == "active 21 1 1 0")
        #expect(try weigh(queue, older: (30, 3), recent: (20, 1), age: 600, new: (1, 1)) == "active 1 1 1 1")
    }

    @Test func `a server reopens after the service's cool_down, and calls while set aside do not count`() throws {
        let queue = try queue()
        let text = """
            select (w.open_until - s.window_began)::text from postrider.servers s
              join postrider.services v on v.name = s.service
            cross join lateral postrider_internal.update_server_state(s, v, 40, 40, s.window_began + interval '5 s') w
            """
        #expect(try queue.text(text) == "00:00:35")
        try queue.connection.execute("update postrider.services set cool_down = '2 min', min_calls = 80")
        #expect(try queue.text(text) == nil)
        try queue.connection.execute("update postrider.services set error_rate = 0.5, min_calls = 40")
        #expect(try queue.text(text) == "00:02:05")
        try queue.connection.execute("update postrider.servers set state = 'aside'")
        #expect(try weigh(queue, new: (40, 40)) == "aside 0 0 0 0")
    }

    @Test(arguments: [
        ("service", "'none'", "service"), ("service", "null", "service"), ("position", "-1", "position"),
        ("position", "null", "position"), ("environment", "''", "environment"), ("environment", "null", "environment"),
        ("base_url", "'ftp://h/'", "base_url"), ("base_url", "'h/x'", "base_url"), ("base_url", "null", "base_url"),
        ("base_url", "'http://u:secret@h/'", "base_url"), ("base_url", "'http://h/?key=secret'", "base_url"),
        ("state", "'closed'", "state"), ("state", "'probing'", "state"), ("state", "null", "state"),
        ("open_until", "'infinity'", "open_until"), ("calls", "-1", "calls"), ("errors", "null", "errors"),
        ("recent_calls", "-4", "recent_calls"),
    ])
    func `an invalid server is refused with its column and without its secrets`(
        column: String, value: String, named: String
    ) throws {
        let queue = try queue()
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("update postrider.servers set \(column) = \(value)")
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("servers.\(named):"), "\(text)")
        #expect(error?.sqlState?.rawValue == "PR001")
        #expect(!text.contains("secret"))
    }

    @Test(arguments: [
        ("min_calls", "0"), ("min_calls", "null"), ("error_rate", "0"), ("error_rate", "1.1"), ("error_rate", "'NaN'"),
        ("error_rate", "null"), ("cool_down", "'0 s'"), ("cool_down", "'2 days'"), ("cool_down", "null"),
    ])
    func `an invalid min_calls, error_rate or cool_down is refused`(column: String, value: String) throws {
        let queue = try queue()
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("update postrider.services set \(column) = \(value)")
        }
        #expect(error.map { "\($0)" }?.contains("services.\(column):") == true)
    }

    @Test func `a user can set a server aside and reactivate it with zero counters`() throws {
        let queue = try queue()
        try queue.connection.execute("update postrider.servers set calls = 30, errors = 3, state = 'aside'")
        #expect(
            try queue.number(
                "select count(*) from postrider.servers where open_until between now() + '25 s' and now() + '35 s'")
                == 1)
        #expect(try queue.text("select state from postrider_internal.server_routes") == "aside")
        try queue.connection.execute("update postrider.servers set state = 'active'")
        #expect(
            try queue.text("select concat_ws(' ', state, calls, errors, open_until) from postrider.servers")
                == "active 0 0")
        #expect(
            try queue.text("select concat_ws(' ', state, open_until) from postrider_internal.server_routes") == "active"
        )
        try queue.connection.execute("update postrider.services set name = 'other'")
        #expect(try queue.text("select service from postrider_internal.server_routes") == "other")
        try queue.connection.execute("delete from postrider.services")
        #expect(try queue.number("select count(*) from postrider_internal.server_routes") == 0)
    }

    @Test func `service_status shows services without servers, also after TRUNCATE of servers`() throws {
        let queue = try self.queue()
        try queue.connection.execute(
            "insert into postrider.services (name, base_url) values ('plain', 'http://plain/')")
        let states = "select service, state from postrider.service_status order by service"
        #expect(try queue.rows(states) == [["api", "active"], ["plain", "no servers"]])
        try queue.connection.execute("truncate postrider.servers")
        #expect(try queue.rows(states) == [["api", "no servers"], ["plain", "no servers"]])
        #expect(try queue.number("select count(*) from postrider_internal.server_routes") == 0)
    }
}
