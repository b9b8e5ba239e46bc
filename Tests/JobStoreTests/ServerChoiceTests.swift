// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Which server a call goes to, and what its end does; workers played by SQL.
struct ServerChoiceTests {
    @Test func `the lowest position is used, and the next when it is set aside`() throws {
        let desk = try ServerDesk()
        let worker = try desk.worker()
        try desk.insert()
        let first = try desk.take(worker)
        #expect(first.map(\.call) == ["http://one/x+"])
        try desk.end(first[0].job, "s", "w")
        try desk.run(worker, calls: 9, errors: 2)
        // The tenth call of all had no error; whoever brings one looks, and so does the leader.
        try desk.fold()
        #expect(try desk.servers() == ["aside 10 2", "active 0 0", "active 0 0"])
        try desk.insert()
        #expect(try desk.calls(worker) == ["http://two/x+"])
        #expect(
            try desk.queue.rows(
                "select server, count(*)::text from postrider.attempts group by 1 order by 1") == [
                    ["http://one/", "10"]
                ])
    }

    @Test func `whoever brings the error that is one too many sets the server aside in the same transaction`() throws {
        let desk = try ServerDesk()
        let worker = try desk.worker()
        try desk.queue.insert(10, "service, url", "'api', 'x'")
        let calls = try desk.take(worker)
        for call in calls.prefix(9) { try desk.end(call.job, "s", "w") }
        try desk.end(calls[9].job, "f", "f")
        #expect(try desk.servers()[0] == "active 0 0")
        try desk.run(worker, calls: 1, errors: 1)
        #expect(try desk.servers()[0] == "active 0 0")
        try desk.run(worker, calls: 1, errors: 1)
        #expect(try desk.servers()[0] == "aside 12 3")
    }

    @Test func `errors of ours, of certificates, and calls without an end do not count`() throws {
        let desk = try ServerDesk()
        let worker = try desk.worker()
        for health in ["x", nil] {
            try desk.queue.insert(20, "service, url", "'api', 'x'")
            for call in try desk.take(worker) { try desk.end(call.job, "f", health) }
        }
        try desk.fold()
        #expect(try desk.servers()[0] == "active 0 0")
    }

    @Test func `calls begun before a server came back say nothing about it`() throws {
        let desk = try ServerDesk()
        let worker = try desk.worker()
        try desk.queue.insert(30, "service, url", "'api', 'x'")
        let old = try desk.take(worker)
        try desk.queue.connection.execute("update postrider.servers set state = 'aside' where position = 1")
        try desk.queue.connection.execute("update postrider.servers set state = 'active' where position = 1")
        for call in old { try desk.end(call.job, "f", "f") }
        try desk.fold()
        #expect(try desk.servers()[0] == "active 0 0")
        try desk.run(worker, calls: 10, errors: 10)
        #expect(try desk.servers()[0] == "aside 10 10")
    }

    @Test func `an attempt goes round the servers once, each at most once, and then fails`() throws {
        let desk = try ServerDesk()
        let worker = try desk.worker()
        let job = try desk.insert("max_attempts, backoff", "2, '{0 s}'")
        for url in ["one/x+", "two/x+", "three/x"] {
            let call = try #require(try desk.take(worker).first)
            #expect(call.call == "http://" + url)
            try desk.end(job, url.hasSuffix("+") ? "o" : "r", "f")
        }
        #expect(
            try desk.queue.rows("select attempt::text, server, error_code from postrider.attempts order by fence") == [
                ["1", "http://one/", "connect"], ["1", "http://two/", "connect"], ["1", "http://three/", "connect"],
            ])
        // The second attempt begins anew.
        #expect(try desk.queue.text("select concat_ws(' ', state, attempt) from postrider.job_status") == "scheduled 1")
        try desk.queue.connection.execute(
            "update postrider_internal.scheduled set run_at = now() - interval '1 s'"
        )
        let epoch = try desk.queue.lead(worker)
        _ = try desk.queue.rows(
            "select moved::text from postrider_internal.run_queue_duties(\(worker), \(epoch), null)")
        #expect(try desk.calls(worker) == ["http://one/x+"])
        try desk.end(job, "o", "f")
        #expect(try desk.calls(worker) == ["http://two/x+"])
        try desk.end(job, "s", "w")
        #expect(
            try desk.queue.rows(
                "select s.state, s.attempt::text, r.server from postrider.job_status s join postrider_internal.results r on r.job_id = s.id"
            )
                == [["succeeded", "2", "http://two/"]])
    }

    @Test func `going on keeps key, batch and expiry, and ends at expires_at`() throws {
        let desk = try ServerDesk()
        let worker = try desk.worker()
        let job = try desk.insert("method, expires_at", "'PUT', now() + interval '1 h'")
        #expect(try desk.calls(worker) == ["http://one/x+"])
        try desk.end(job, "o", "f")
        #expect(
            try desk.queue.text(
                "select concat_ws(' ', attempt, rekey, tried, expires_at is not null) from postrider_internal.ready")
                == "0 0 {1} t")
        #expect(try desk.calls(worker) == ["http://two/x+"])
        // The hour is over.
        try desk.queue.connection.execute(
            """
            set session_replication_role = replica;
            update postrider.jobs set expires_at = now() - interval '1 s';
            update postrider_internal.ready set expires_at = now() - interval '1 s';
            reset session_replication_role
            """)
        try desk.end(job, "o", "f")
        #expect(
            try desk.queue.text("select concat_ws(' ', state, error_code, attempt) from postrider.job_status")
                == "failed connect 1")
    }

    @Test func `with all aside the one that reopens first is used, and explain says so`() throws {
        let desk = try ServerDesk()
        let worker = try desk.worker()
        try desk.queue.connection.execute(
            "update postrider.servers set state = 'aside', open_until = now() + position % 3 * interval '1 min' + interval '1 min'"
        )
        let job = try desk.insert()
        let text = try desk.queue.text("select postrider.explain(\(job))") ?? ""
        #expect(text.contains("All servers of service api (release) are set aside"), "\(text)")
        #expect(text.contains("use server 3"))
        #expect(
            try desk.queue.text(
                "select concat_ws(' ', service, environment, base_url, current_position, state, servers, servers_active) from postrider.service_status"
            )
                == "api release http://three/ 3 all servers aside 3 0")
        #expect(try desk.calls(worker) == ["http://three/x"])
        try desk.end(job, "s", "w")
        #expect(try desk.servers()[2] == "aside 0 0")
    }

    @Test func `absolute URLs and calls to the CDN have no server`() throws {
        let desk = try ServerDesk()
        let worker = try desk.worker()
        try desk.queue.connection.execute("update postrider.services set cdn_url = 'http://cdn/'")
        try desk.insert(url: "http://else/x")
        try desk.insert("use_cdn", "true")
        try desk.insert()
        #expect(try desk.calls(worker) == ["http://else/x", "http://cdn/x", "http://one/x+"])
    }

    @Test func `each environment has its own servers, and without any the service's base holds`() throws {
        let desk = try ServerDesk()
        try desk.queue.connection.execute(
            """
            insert into postrider.servers (service, position, environment, base_url)
            values ('api', 1, 'test', 'http://test/')
            """)
        try desk.insert()
        #expect(try desk.calls(try desk.worker(environment: "test")) == ["http://test/x"])
        try desk.insert()
        #expect(try desk.calls(try desk.worker(environment: "develop")) == ["http://base/x"])
        try desk.insert()
        #expect(try desk.calls(try desk.worker()) == ["http://one/x+"])
        #expect(
            try desk.queue.text(
                "select string_agg(environment, ' ' order by environment) from postrider.service_status")
                == "release test")
    }

    @Test func `a service knows whether it has servers, so its relative URLs are good at first sight`() throws {
        let desk = try ServerDesk(servers: 2)
        let look = """
            select string_agg(s.has_servers || ' ' || postrider_internal.is_valid_with_service(j, s), ', ' order by s.name)
            from postrider.services s cross join postrider.jobs j
            """
        try desk.insert()
        try desk.queue.connection.execute(
            "update postrider.services set base_url = null; insert into postrider.services (name) values ('zero')")
        #expect(try desk.queue.text(look) == "true true, false false")
        try desk.queue.connection.execute("update postrider.servers set service = 'zero' where position = 1")
        #expect(try desk.queue.text(look) == "true true, true true")
        try desk.queue.connection.execute("update postrider.services set name = 'zeta' where name = 'zero'")
        #expect(try desk.queue.text(look) == "true true, true true")
        try desk.queue.connection.execute("delete from postrider.servers where position = 2")
        #expect(try desk.queue.text(look) == "false false, true true")
    }

    @Test func `a credential that is gone hinders no change but that of the credential`() throws {
        let desk = try ServerDesk(servers: 2)
        try desk.queue.connection.execute(
            """
            insert into postrider.credentials (name, kind) values ('c', 'bearer');
            update postrider.services set credential = 'c';
            delete from postrider.credentials;
            update postrider.services set timeout = '9 s';
            delete from postrider.servers where position = 1;
            truncate postrider.servers
            """)
        #expect(try desk.queue.text("select string_agg(has_servers::text, ' ') from postrider.services") == "false")
        #expect(
            TestRole.refusal(of: "update postrider.services set credential = 'd'", desk.queue.connection) == "PR001")
        #expect(
            TestRole.refusal(of: "update postrider.services set timeout = '-1 s'", desk.queue.connection) == "PR001")
    }

    @Test func `a service needs no base_url where it has servers, and its jobs end as config where it has none`() throws
    {
        let desk = try ServerDesk()
        try desk.queue.connection.execute("update postrider.services set base_url = null")
        try desk.insert()
        let job = try desk.insert("cache_ttl", "'1 min'")
        #expect(try desk.calls(try desk.worker()) == ["http://one/x+", "http://one/x+"])
        try desk.end(job, "f", "f")
        let other = try desk.insert("cache_ttl", "'1 min'", url: "y")
        #expect(try desk.calls(try desk.worker(environment: "test")) == [])
        #expect(try desk.queue.text("select error_code from postrider.job_status where id = \(other)") == "config")
        try desk.queue.connection.execute("delete from postrider.servers")
        #expect(throws: PGError.self) { try desk.insert() }
    }

    @Test(arguments: [false, true])
    func `a credential goes to the servers of the worker's environment, and to the base where there are none`(
        usesCDN: Bool
    ) throws {
        let desk = try ServerDesk(servers: 0)
        try desk.queue.connection.execute(
            """
            insert into postrider.servers (service, position, environment, base_url) values ('api', 1, 'test', 'http://test/');
            insert into postrider.credentials (name, kind) values ('c', 'bearer');
            select postrider.log_in('c', '{"access_token": "t"}');
            update postrider.services set credential = 'c';
            """)
        let workers = [try desk.worker(), try desk.worker(environment: "test")]
        for (origin, calls) in [("http://base", [["http://base/x"], []]), ("http://test", [[], ["http://test/x"]])] {
            try desk.queue.connection.execute("update postrider.credentials set allowed_origins = array['\(origin)']")
            for (worker, expected) in zip(workers, calls) {
                // With use_cdn and a CDN that is gone a job is called like others.
                try desk.queue.connection.execute("update postrider.services set cdn_url = 'http://cdn/'")
                let job = try desk.insert("use_cdn", "\(usesCDN)")
                try desk.queue.connection.execute("update postrider.services set cdn_url = null")
                #expect(try desk.calls(worker) == expected, "\(origin)")
                #expect(try desk.queue.state(job) == (expected.isEmpty ? "failed" : "running"), "\(origin)")
            }
        }
    }
}
