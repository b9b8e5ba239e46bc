// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The server of a call, and the effect of the call's end. SQL simulates the workers.
struct ServerChoiceTests {
    @Test func `calls use the server of the lowest position until the server is set aside`() throws {
        let fixture = try ServerFixture()
        let worker = try fixture.worker()
        try fixture.insert()
        let first = try fixture.take(worker)
        #expect(first.map(\.call) == ["http://one/x+"])
        try fixture.end(first[0].job, "s", "w")
        try fixture.run(worker, calls: 9, errors: 2)
        // The tenth call had no error. Each call that had one checks the rule, and so does the leader.
        try fixture.fold()
        #expect(try fixture.servers() == ["aside 10 2", "active 0 0", "active 0 0"])
        try fixture.insert()
        #expect(try fixture.calls(worker) == ["http://two/x+"])
        #expect(
            try fixture.queue.rows(
                "select server, count(*)::text from postrider.attempts group by 1 order by 1") == [
                    ["http://one/", "10"]
                ])
    }

    @Test func `the call with the deciding error sets the server aside in its transaction`() throws {
        let fixture = try ServerFixture()
        let worker = try fixture.worker()
        try fixture.queue.insert(10, "service, url", "'api', 'x'")
        let calls = try fixture.take(worker)
        for call in calls.prefix(9) { try fixture.end(call.job, "s", "w") }
        try fixture.end(calls[9].job, "f", "f")
        #expect(try fixture.servers()[0] == "active 0 0")
        try fixture.run(worker, calls: 1, errors: 1)
        #expect(try fixture.servers()[0] == "active 0 0")
        try fixture.run(worker, calls: 1, errors: 1)
        #expect(try fixture.servers()[0] == "aside 12 3")
    }

    @Test func `calls with unclear or no evidence do not count against the server`() throws {
        let fixture = try ServerFixture()
        let worker = try fixture.worker()
        for health in ["x", nil] {
            try fixture.queue.insert(20, "service, url", "'api', 'x'")
            for call in try fixture.take(worker) { try fixture.end(call.job, "f", health) }
        }
        try fixture.fold()
        #expect(try fixture.servers()[0] == "active 0 0")
    }

    @Test func `calls begun before a server was reactivated do not count against the server`() throws {
        let fixture = try ServerFixture()
        let worker = try fixture.worker()
        try fixture.queue.insert(30, "service, url", "'api', 'x'")
        let old = try fixture.take(worker)
        try fixture.queue.connection.execute("update postrider.servers set state = 'aside' where position = 1")
        try fixture.queue.connection.execute("update postrider.servers set state = 'active' where position = 1")
        for call in old { try fixture.end(call.job, "f", "f") }
        try fixture.fold()
        #expect(try fixture.servers()[0] == "active 0 0")
        try fixture.run(worker, calls: 10, errors: 10)
        #expect(try fixture.servers()[0] == "aside 10 10")
    }

    @Test func `an attempt tries each server once and then fails`() throws {
        let fixture = try ServerFixture()
        let worker = try fixture.worker()
        let job = try fixture.insert("max_attempts, backoff", "2, '{0 s}'")
        for url in ["one/x+", "two/x+", "three/x"] {
            let call = try #require(try fixture.take(worker).first)
            #expect(call.call == "http://" + url)
            try fixture.end(job, url.hasSuffix("+") ? "o" : "r", "f")
        }
        #expect(
            try fixture.queue.rows("select attempt::text, server, error_code from postrider.attempts order by fence")
                == [
                    ["1", "http://one/", "connect"], ["1", "http://two/", "connect"],
                    ["1", "http://three/", "connect"],
                ])
        // The second attempt starts again with the first server.
        #expect(
            try fixture.queue.text("select concat_ws(' ', state, attempt) from postrider.job_status") == "scheduled 1")
        try fixture.queue.connection.execute(
            "update postrider_internal.scheduled set run_at = now() - interval '1 s'"
        )
        let epoch = try fixture.queue.lead(worker)
        _ = try fixture.queue.rows(
            "select moved::text from postrider_internal.run_queue_duties(\(worker), \(epoch), null)")
        #expect(try fixture.calls(worker) == ["http://one/x+"])
        try fixture.end(job, "o", "f")
        #expect(try fixture.calls(worker) == ["http://two/x+"])
        try fixture.end(job, "s", "w")
        #expect(
            try fixture.queue.rows(
                "select s.state, s.attempt::text, r.server from postrider.job_status s join postrider_internal.results r on r.job_id = s.id"
            )
                == [["succeeded", "2", "http://two/"]])
    }

    @Test func `a job that moves to another server keeps its key and expiry, and ends at expires_at`() throws {
        let fixture = try ServerFixture()
        let worker = try fixture.worker()
        let job = try fixture.insert("method, expires_at", "'PUT', now() + interval '1 h'")
        #expect(try fixture.calls(worker) == ["http://one/x+"])
        try fixture.end(job, "o", "f")
        #expect(
            try fixture.queue.text(
                "select concat_ws(' ', attempt, rekey, tried, expires_at is not null) from postrider_internal.ready")
                == "0 0 {1} t")
        #expect(try fixture.calls(worker) == ["http://two/x+"])
        // The hour has passed.
        try fixture.queue.connection.execute(
            """
            set session_replication_role = replica;
            update postrider.jobs set expires_at = now() - interval '1 s';
            update postrider_internal.ready set expires_at = now() - interval '1 s';
            reset session_replication_role
            """)
        try fixture.end(job, "o", "f")
        #expect(
            try fixture.queue.text("select concat_ws(' ', state, error_code, attempt) from postrider.job_status")
                == "failed connect 1")
    }

    @Test func `if all servers are set aside, calls use the server that reopens first`() throws {
        let fixture = try ServerFixture()
        let worker = try fixture.worker()
        try fixture.queue.connection.execute(
            "update postrider.servers set state = 'aside', open_until = now() + position % 3 * interval '1 min' + interval '1 min'"
        )
        let job = try fixture.insert()
        let text = try fixture.queue.text("select postrider.explain(\(job))") ?? ""
        #expect(text.contains("All servers of service api (release) are set aside"), "\(text)")
        #expect(text.contains("use server 3"))
        #expect(
            try fixture.queue.text(
                "select concat_ws(' ', service, environment, base_url, current_position, state, servers, servers_active) from postrider.service_status"
            )
                == "api release http://three/ 3 all servers aside 3 0")
        #expect(try fixture.calls(worker) == ["http://three/x"])
        try fixture.end(job, "s", "w")
        #expect(try fixture.servers()[2] == "aside 0 0")
    }

    @Test func `calls to absolute URLs and to the CDN use no server`() throws {
        let fixture = try ServerFixture()
        let worker = try fixture.worker()
        try fixture.queue.connection.execute("update postrider.services set cdn_url = 'http://cdn/'")
        try fixture.insert(url: "http://else/x")
        try fixture.insert("use_cdn", "true")
        try fixture.insert()
        #expect(try fixture.calls(worker) == ["http://else/x", "http://cdn/x", "http://one/x+"])
    }

    @Test func `each environment uses its own servers, and base_url if it has none`() throws {
        let fixture = try ServerFixture()
        try fixture.queue.connection.execute(
            """
            insert into postrider.servers (service, position, environment, base_url)
            values ('api', 1, 'test', 'http://test/')
            """)
        try fixture.insert()
        #expect(try fixture.calls(try fixture.worker(environment: "test")) == ["http://test/x"])
        try fixture.insert()
        #expect(try fixture.calls(try fixture.worker(environment: "develop")) == ["http://base/x"])
        try fixture.insert()
        #expect(try fixture.calls(try fixture.worker()) == ["http://one/x+"])
        #expect(
            try fixture.queue.text(
                "select string_agg(environment, ' ' order by environment) from postrider.service_status")
                == "release test")
    }

    @Test func `has_servers of a service follows changes of its servers`() throws {
        let fixture = try ServerFixture(servers: 2)
        let look = """
            select string_agg(s.has_servers || ' ' || postrider_internal.is_valid_with_service(j, s), ', '
                              order by s.name)
            from postrider.services s cross join postrider.jobs j
            """
        try fixture.insert()
        try fixture.queue.connection.execute(
            "update postrider.services set base_url = null; insert into postrider.services (name) values ('zero')")
        #expect(try fixture.queue.text(look) == "true true, false false")
        try fixture.queue.connection.execute("update postrider.servers set service = 'zero' where position = 1")
        #expect(try fixture.queue.text(look) == "true true, true true")
        try fixture.queue.connection.execute("update postrider.services set name = 'zeta' where name = 'zero'")
        #expect(try fixture.queue.text(look) == "true true, true true")
        try fixture.queue.connection.execute("delete from postrider.servers where position = 2")
        #expect(try fixture.queue.text(look) == "false false, true true")
    }

    @Test func `a service with a deleted credential can change other columns`() throws {
        let fixture = try ServerFixture(servers: 2)
        try fixture.queue.connection.execute(
            """
            insert into postrider.credentials (name, kind) values ('c', 'bearer');
            update postrider.services set credential = 'c';
            delete from postrider.credentials;
            update postrider.services set timeout = '9 s';
            delete from postrider.servers where position = 1;
            truncate postrider.servers
            """)
        #expect(try fixture.queue.text("select string_agg(has_servers::text, ' ') from postrider.services") == "false")
        #expect(
            TestRole.refusal(of: "update postrider.services set credential = 'd'", fixture.queue.connection) == "PR001")
        #expect(
            TestRole.refusal(of: "update postrider.services set timeout = '-1 s'", fixture.queue.connection) == "PR001")
    }

    @Test func `a service with servers needs no base_url, but jobs in other environments fail as config`() throws {
        let fixture = try ServerFixture()
        try fixture.queue.connection.execute("update postrider.services set base_url = null")
        try fixture.insert()
        let job = try fixture.insert("cache_ttl", "'1 min'")
        #expect(try fixture.calls(try fixture.worker()) == ["http://one/x+", "http://one/x+"])
        try fixture.end(job, "f", "f")
        let other = try fixture.insert("cache_ttl", "'1 min'", url: "y")
        #expect(try fixture.calls(try fixture.worker(environment: "test")) == [])
        #expect(try fixture.queue.text("select error_code from postrider.job_status where id = \(other)") == "config")
        try fixture.queue.connection.execute("delete from postrider.servers")
        #expect(throws: PGError.self) { try fixture.insert() }
    }

    @Test(arguments: [false, true])
    func `allowed_origins applies to the servers of the worker's environment, or to base_url`(usesCDN: Bool) throws {
        let fixture = try ServerFixture(servers: 0)
        try fixture.queue.connection.execute(
            """
            insert into postrider.servers (service, position, environment, base_url) values ('api', 1, 'test',
                'http://test/');
            insert into postrider.credentials (name, kind) values ('c', 'bearer');
            select postrider.log_in('c', '{"access_token": "t"}');
            update postrider.services set credential = 'c';
            """)
        let workers = [try fixture.worker(), try fixture.worker(environment: "test")]
        for (origin, calls) in [("http://base", [["http://base/x"], []]), ("http://test", [[], ["http://test/x"]])] {
            try fixture.queue.connection.execute(
                "update postrider.credentials set allowed_origins = array['\(origin)']")
            for (worker, expected) in zip(workers, calls) {
                // With use_cdn and a CDN that is gone, the job is called like others.
                try fixture.queue.connection.execute("update postrider.services set cdn_url = 'http://cdn/'")
                let job = try fixture.insert("use_cdn", "\(usesCDN)")
                try fixture.queue.connection.execute("update postrider.services set cdn_url = null")
                #expect(try fixture.calls(worker) == expected, "\(origin)")
                #expect(try fixture.queue.state(job) == (expected.isEmpty ? "failed" : "running"), "\(origin)")
            }
        }
    }
}
