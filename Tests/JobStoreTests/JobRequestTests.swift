// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// `job_request`, which shows a request, against `prepare`, which builds it for a worker.
struct JobRequestTests {
    @Test func `job_request builds the same request as prepare for jobs without secrets`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(ClaimFixture.functions)
        try queue.connection.execute(
            """
            select worker from postrider_internal.enlist(0, 'w', '0.1.0', null, 100, '{}', '{}');
            insert into postrider.services (name, base_url, cdn_url, headers, query, proxy, tls, gzip_request,
                                            idempotency_header) values
              ('api', 'https://api.example.com/v1', 'https://cdn.example.com/', '{"X-A": "1", "Content-Type": "application/json"}',
               '{"app": 7, "lang": "en"}', 'http://proxy.example.com:3128', '{"ca": "/etc/ca.pem"}', true, 'Once'),
              ('many', null, null, null, null, null, null, false, null),
              ('both', null, 'https://cdn.example.com/', null, null, null, null, false, null);
            insert into postrider.servers (service, position, base_url) values ('many', 1, 'https://one.example.com/x'),
              ('many', 2, 'https://two.example.com/x'), ('both', 1, 'https://one.example.com/x');
            insert into postrider.credentials (name, kind, allowed_origins, place) values
              ('c', 'bearer', '{https://api.example.com}', null),
              ('l', 'api_key', '{https://api.example.com}', '[{"json": "k1"}, {"form": "k2"}, {"query": "k3"}]');
            select postrider.log_in('c', '{"access_token": "t"}'), postrider.log_in('l', '{"api_key": "t"}')
            """)
        let jobs = [
            ("url", "'https://h.example.com/a?b=1#f'"),
            (
                "url, method, query, headers",
                #"'https://h.example.com/', 'POST', '{"a": [1, "x y"]}', '{"A": ["1", "2"]}'"#
            ),
            ("service, url", "'api', 'items?lang=de'"), ("service, url, use_cdn", "'api', '/logo', true"),
            ("service, url, query, headers", #"'api', 'x', '{"app": 8}', '{"x-a": []}'"#),
            ("service, url", "'api', 'https://other.example.com/x'"), ("service, url", "'many', 'y'"),
            ("service, url", "'both', 'y'"), ("service, url, use_cdn", "'both', 'y', true"),
            ("service, url, method, body_form", #"'api', 'f', 'PUT', '{"a": {"b": [1, true]}}'"#),
            ("service, url, method, body_json, credential", #"'api', 'j', 'POST', '{"k1": 1, "z": "é"}', 'l'"#),
            ("service, url, method, body_form, credential", #"'api', 'j', 'POST', '{"z": "é"}', 'l'"#),
            ("service, url, credential", "'api', 'j', 'l'"), ("service, url, credential", "'api', 'j', 'c'"),
            ("url, method, body", #"'https://h.example.com/', 'PATCH', '\x00ff'"#),
            ("url, method, body", "'https://h.example.com/', 'POST', 'text'"),
            (
                "url, method, body_parts",
                #"'https://h.example.com/', 'POST', '[{"name": "a", "content": "x"}, {"name": "b", "base64": "AAE=", "filename": "f", "type": "a/b"}]'"#
            ),
            (
                "url, paginate",
                #"'https://h.example.com/l', '{"style": "page", "param": "p", "size_param": "n", "size": 5}'"#
            ),
            ("url, download_to", "'https://h.example.com/l', 'a/b'"),
        ]
        for (columns, values) in jobs { try queue.insert(columns, values) }
        let columns = """
            method,url,query,headers,body_kind,body,form,idempotency_header,gzip,proxy,interface,ca,certificate,key,pins,\
            parts,part_bodies,download_to,credential,credential_kind,place
            """
        let rows = try queue.rows(
            """
            with c as materialized (select * from fixture.claimed(1)),
            p as materialized (
              select p.job_id, to_jsonb(p) as row
                from c cross join lateral postrider_internal.prepare(1, null, c.t, c.s, c.f, c.j) p)
            select p.job_id::text, k.name, p.row ->> k.name, to_jsonb(r) ->> k.name
              from p
              join postrider_internal.tickets t on t.id = p.job_id
             cross join lateral postrider_internal.job_request(t.id, t.ticket, t.service_ticket, 'MASK') r
             cross join unnest('{\(columns)}'::text[]) k (name)
            """)
        #expect(rows.count == jobs.count * 21)
        for row in rows { #expect(row[2] == row[3], "\(row)") }
    }

    @Test func `a client gets no secret of a service or credential from the functions that mask them`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider.credentials (name, kind, allowed_origins)
              values ('c', 'basic', '{https://api.example.com}');
            insert into postrider.services (name, base_url, headers, query, proxy, tls, credential) values
              ('api', 'https://u:hush@api.example.com/v1', '{"X-A": "hush"}', '{"a": "hush"}',
               'http://u:hush@proxy.example.com:3128', '{"ca": "/hush.pem"}', 'c');
            select postrider.log_in('c', '{"username": "hush", "password": "hush"}')
            """)
        let other = try queue.insert("url, headers", "'https://u:hush@h.example.com/', '{\"a\": \"hush\"}'")
        let client = try TestRole.client.connect(queue)
        try client.execute("insert into postrider.jobs (service, url) values ('api', 'x')")
        func request(_ service: String, _ mask: String) -> String {
            """
            select r::text from postrider_internal.tickets t
             cross join lateral postrider_internal.job_request(t.id, t.ticket, \(service), \(mask)) r
            """
        }
        let masks = ["'M'", #"'\&'"#, #"'\1'"#, #"'\0'"#, #"E'\\\\&'"#, "null", "''"]
        let attempts =
            masks.map { request("null", $0) } + [
                request("t.ticket", "'M'"), request("t.service_ticket", "'M'"), request("'x'::bytea", "'M'"),
                "select r::text from postrider_internal.tickets t, postrider_internal.job_request(\(other), t.ticket, null, 'M') r",
                "select postrider_internal.masked_service(s, 'x', true, 'M')::text from postrider.services s",
                "select postrider_internal.masked_job(j, 'M', 'M')::text from postrider.jobs j",
                "select request_url || url from postrider.job_status", "select postrider_internal.request_key(1)::text",
            ]
        for attempt in attempts {
            var found = ""
            do throws(PGError) {
                let result = try client.query(attempt)
                for row in 0..<result.rowCount { found += result.optionalText(row, 0) ?? "" }
            } catch {
                found = error.description
            }
            #expect(!found.contains("hush"), "\(attempt)\n\(found)")
        }
    }
}
