// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The return of a server that was set aside: one call in the fleet probes it. Also the effect of switch_server.
struct ServerProbeTests {
    /// A fixture whose first server is set aside and due for a probe.
    private func fixture() throws -> ServerFixture {
        let fixture = try ServerFixture()
        try fixture.queue.connection.execute(
            "update postrider.servers set state = 'aside', calls = 12, errors = 3, open_until = now() where position = 1"
        )
        return fixture
    }

    @Test func `one call in the fleet probes a server, and success reactivates it with zero counters`() throws {
        let fixture = try fixture()
        let workers = [try fixture.worker(), try fixture.worker(), try fixture.worker()]
        var calls: [(job: Int64, call: String)] = []
        for worker in workers + workers {
            try fixture.queue.insert(5, "service, url", "'api', 'x'")
            calls += try fixture.take(worker)
        }
        let probes = calls.filter { $0.call.hasPrefix("http://one/") }
        #expect(calls.count == 30)
        #expect(probes.map(\.call) == ["http://one/x+"])
        #expect(try fixture.servers()[0] == "probing 12 3")
        try fixture.end(try #require(probes.first).job, "s", "w")
        #expect(try fixture.servers()[0] == "active 0 0")
        try fixture.insert()
        #expect(try fixture.calls(workers[2]) == ["http://one/x+"])
    }

    @Test(arguments: ["f", "x"])
    func `a probe that fails sets the server aside for another cool_down`(health: String) throws {
        let fixture = try fixture()
        let worker = try fixture.worker()
        let job = try fixture.insert()
        #expect(try fixture.calls(worker) == ["http://one/x+"])
        try fixture.end(job, "o", health)
        #expect(
            try fixture.queue.number(
                "select count(*) from postrider.servers where open_until > now() + interval '50 s'")
                == 1)
        #expect(try fixture.servers()[0] == "aside 13 4")
        #expect(try fixture.calls(worker) == ["http://two/x+"])
        try fixture.insert()
        #expect(try fixture.calls(worker) == ["http://two/x+"])
    }

    @Test func `after a lost, cancelled or handed-back probe, the next call probes the server`() throws {
        let fixture = try fixture()
        let prober = try fixture.worker()
        let other = try fixture.worker()
        let job = try fixture.insert()
        #expect(try fixture.calls(prober) == ["http://one/x+"])
        try fixture.insert()
        #expect(try fixture.calls(other) == ["http://two/x+"])
        // The worker is silent for ten seconds, and the leader declares it lost.
        try fixture.queue.connection.execute(
            "update postrider_internal.workers set heartbeat_at = now() - interval '11 s' where id = \(prober)")
        let epoch = try fixture.queue.lead(other)
        #expect(
            try fixture.queue.rows("select lost_worker::text from postrider_internal.reap(\(other), \(epoch))") == [
                ["\(prober)"]
            ])
        #expect(try fixture.calls(other) == ["http://one/x+"])
        try fixture.queue.connection.execute("select postrider.cancel(\(job))")
        try fixture.insert()
        let next = try fixture.take(other)
        #expect(next.map(\.call) == ["http://one/x+"])
        try fixture.end(next[0].job, "h", nil)
        try fixture.insert()
        #expect(try fixture.calls(other) == ["http://one/x+"])
    }

    @Test func `a second begin_probe takes no lock, so the running probe's result counts`() throws {
        let fixture = try fixture()
        let workers = [try fixture.worker(), try fixture.worker()]
        let job = try fixture.insert()
        #expect(try fixture.calls(workers[0]) == ["http://one/x+"])
        // A preparation whose commit is late.
        let late = try PGConnection(fixture.queue.database)
        try late.execute(
            "begin; select postrider_internal.begin_probe(id, 1, 1, 1) from postrider.servers where position = 1")
        let next = try fixture.insert()
        #expect(try fixture.calls(workers[1]) == ["http://two/x+"])
        try fixture.end(job, "o", "f")
        try late.execute("commit")
        #expect(try fixture.servers()[0] == "aside 13 4")
        try fixture.end(next, "s", "w")
        try fixture.insert()
        #expect(try fixture.take(workers[1]).allSatisfy { $0.call == "http://two/x+" })
    }

    @Test func `at_most_once jobs and downloads leave the probe to other jobs for a minute`() throws {
        let fixture = try fixture()
        let worker = try fixture.worker()
        try fixture.insert("method, delivery", "'POST', 'at_most_once'")
        try fixture.insert("method", "'POST'")
        try fixture.insert()
        #expect(try fixture.calls(worker) == ["http://two/x+", "http://two/x+", "http://one/x+"])
        try fixture.queue.connection.execute("delete from postrider_internal.ready")
        try fixture.insert("delivery", "'at_most_once'")
        try fixture.insert("download_to", "'folder/file'")
        #expect(try fixture.calls(worker) == ["http://two/x+", "http://two/x+"])
        try fixture.queue.connection.execute(
            "update postrider.servers set open_until = now() - interval '61 s' where position = 1")
        try fixture.insert("delivery", "'at_most_once'")
        #expect(try fixture.calls(worker) == ["http://one/x+"])
    }

    @Test func `a user's lock on the server rows blocks no worker, and no counts are lost`() throws {
        let fixture = try fixture()
        let worker = try fixture.worker()
        let job = try fixture.insert()
        #expect(try fixture.calls(worker) == ["http://one/x+"])
        let person = try PGConnection(fixture.queue.database)
        try person.execute("begin; update postrider.servers set calls = calls")
        try fixture.queue.connection.execute("set lock_timeout = '5s'")
        try fixture.end(job, "s", "w")
        try fixture.run(worker, calls: 20, errors: 20)
        try fixture.fold()
        try person.execute("rollback")
        #expect(try fixture.servers() == ["probing 12 3", "active 0 0", "active 0 0"])
        // No counts were lost, and the next call can probe.
        try fixture.fold()
        #expect(try fixture.servers() == ["probing 12 3", "aside 20 20", "active 0 0"])
        try fixture.insert()
        #expect(try fixture.calls(worker) == ["http://one/x+"])
    }

    @Test func `switch_server moves the next call, changes the order and reactivates a server`() throws {
        let fixture = try ServerFixture()
        let worker = try fixture.worker()
        try fixture.queue.connection.execute("update postrider.servers set state = 'aside' where position = 2")
        try fixture.queue.connection.execute("select postrider.switch_server('api', 2)")
        try fixture.insert()
        #expect(try fixture.calls(worker) == ["http://two/x+"])
        try fixture.queue.connection.execute("update postrider.servers set state = 'aside' where position = 2")
        try fixture.insert()
        #expect(try fixture.calls(worker) == ["http://three/x+"])
        try fixture.queue.connection.execute("update postrider.servers set state = 'aside' where position = 3")
        try fixture.insert()
        #expect(try fixture.calls(worker) == ["http://one/x"])
        try fixture.queue.connection.execute("select postrider.switch_server('api', 1)")
        #expect(
            try fixture.queue.text("select string_agg(position::text, ' ') from postrider.servers where is_preferred")
                == "1")
    }

    @Test func `switch_server without a position moves to the next server in the order`() throws {
        let fixture = try ServerFixture()
        let worker = try fixture.worker()
        func next() throws -> [String] {
            try fixture.queue.connection.execute("select postrider.switch_server('api')")
            try fixture.insert()
            return try fixture.calls(worker)
        }
        #expect(try [next(), next(), next()] == [["http://two/x+"], ["http://three/x+"], ["http://one/x+"]])
        // Calls go to the second server, because the first is set aside. The next server is the third.
        try fixture.queue.connection.execute("update postrider.servers set state = 'aside' where position = 1")
        #expect(try next() == ["http://three/x+"])
        // The next server is used even if it is set aside.
        #expect(try next() == ["http://one/x+"])
        try fixture.queue.connection.execute(
            "insert into postrider.servers (service, environment, position, base_url) values ('api', 'test', 7, 'http://seven')"
        )
        try fixture.queue.connection.execute("select postrider.switch_server('api')")
        #expect(
            try fixture.queue.rows(
                "select environment, position::text from postrider.servers where is_preferred order by position")
                == [["release", "2"], ["test", "7"]])
    }

    @Test(arguments: ["'api', 4", "'none', 1", "null, 1", "'api', 1, 'test'", "'none'", "'api', null, 'test'"])
    func `switch_server to an unknown service, position or environment is refused`(arguments: String) throws {
        let fixture = try ServerFixture()
        let error = #expect(throws: PGError.self) {
            try fixture.queue.connection.execute("select postrider.switch_server(\(arguments))")
        }
        #expect(error?.sqlState?.rawValue == "PR014")
    }
}
