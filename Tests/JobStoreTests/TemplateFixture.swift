// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport

/// A chain at the moment when its job 9 is filled.
///
/// The rows are inserted one by one, so an answer can hold anything.
///
/// ```
/// 1 chain
///   2 register   answered 201 with an object, see `register`
///   3 fan        batch: 4 a {"x": 1} · 5 b {"x": 2} · 6 c failed · 7 (no name) a text
///   8 skip       skipped
///   9 step       the job that is filled
///   10 later     not begun
/// ```
struct TemplateFixture: ~Copyable {
    let queue: TestQueue

    static let register = #"""
        {"id": 17, "half": 0.5, "big": 12345678901234567890, "true": true, "null": null, "empty": "", "name": "a/b c?&=#",
         "list": [1, "two", false], "mixed": [1, null], "deep": [{"x": [10, 20]}], "object": {"k": "v", "n": null},
         "uni": "é€😀", "percent": "%2e%2e%2f", "dots": "..", "dot": ".", "plus": "+",
         "crlf": "x\r\nEvil: 1", "lf": "x\ny", "tab": "a\tb", "control": "a\u0001b", "quote": "\"}],",
         "template": "{{register.status}}", "slashes": "//evil.example/x", "at": "@evil.example", "colon": ":80@evil.example",
         "backslash": "\\\\evil.example", "scheme": "javascript:alert(1)", "path": "/v1/users/17?full=1", "relative": "users/18",
         "up": "../../admin", "same": "https://api.example.com/v1/x", "bare": "https://API.example.com:443", "other": "https://evil.example/x",
         "port": "https://api.example.com:8443/x", "http": "http://api.example.com/x", "user": "https://u:p@api.example.com/x",
         "fake": "https://api.example.com@evil.example/", "dashed": "https://api.example.com.evil.example/", "two": "https://api.example.com//evil.example",
         "ftp": "ftp://api.example.com/", "space": "/a b", "key with space": 5, "0": "zero"}
        """#

    init() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            set session_replication_role = replica;
            create function pg_temp.job(p_row jsonb) returns postrider.jobs language sql as $$
              select jsonb_populate_record(null::postrider.jobs,
                '{"kind": "request", "method": "GET", "queue": "default", "priority": 0, "max_attempts": 5, "mode": "all",
                  "delivery": "at_least_once", "on_duplicate": "error", "use_cdn": false, "login_required": false,
                  "response_format": "raw", "result_type": "any", "cache_version": 0, "ignore_cache": false, "notify": false,
                  "run_at": "2026-01-01", "created_at": "2026-01-01", "created_by": "me"}'::jsonb || p_row) $$;
            create function pg_temp.member(p_id bigint, p_parent bigint, p_position int, p_name text, p_state text, p_row jsonb)
              returns void language plpgsql as $$
            declare
              v_job postrider.jobs := pg_temp.job(p_row || jsonb_build_object(
                'id', p_id, 'parent_id', p_parent, 'position', p_position, 'name', p_name));
            begin
              insert into postrider.jobs overriding system value select v_job.*;
              if p_parent is not null then
                insert into postrider_internal.members (job_id, parent_id, position, name) values (p_id, p_parent,
                    p_position, p_name);
              end if;
              if v_job.kind <> 'request' then
                insert into postrider_internal.trees (job_id, parent_id, root_id, depth, kind, mode, run_at, state)
                values (p_id, p_parent, 1, 1, left(v_job.kind, 1)::"char", 's', now(), p_state::"char");
              end if;
            end $$;
            create function pg_temp.answer(p_job bigint, p_state text, p_status int, p_headers text, p_body bytea)
              returns void language sql as $$
              insert into postrider_internal.results (job_id, attempt, state, status_code, headers, body)
              values (p_job, 1, p_state::"char", p_status, convert_to(p_headers, 'LATIN1'), p_body) $$;

            insert into postrider.services (name, base_url) values ('api', 'https://api.example.com/v1');
            select pg_temp.member(1, null, null, 'root', 'o', '{"kind": "chain"}');
            select pg_temp.member(2, 1, 1, 'register', null, '{}');
            select pg_temp.answer(2, 's', 201,
                                  E'content-type: application/json\\nlocation: /users/17\\nx-tag: b\\nx-tag: a',
                                  convert_to($x$\(Self.register)$x$, 'UTF8'));
            select pg_temp.member(3, 1, 2, 'fan', 's', '{"kind": "batch"}');
            select pg_temp.member(4, 3, 1, 'a', null, '{}'), pg_temp.answer(4, 's', 200, 'content-type: application/json', '{"x":1}');
            select pg_temp.member(5, 3, 2, 'b', null, '{}'), pg_temp.answer(5, 's', 200, 'content-type: application/json', '{"x":2}');
            select pg_temp.member(6, 3, 3, 'c', null, '{}'), pg_temp.answer(6, 'f', 500, 'content-type: application/json', '{"x":3}');
            select pg_temp.member(7, 3, 4, null, null, '{}'),
                   pg_temp.answer(7, 's', 200, 'content-type: text/plain', '0017');
            select pg_temp.member(8, 1, 3, 'skip', null, '{}'), pg_temp.answer(8, 'k', null, null, null);
            select pg_temp.member(9, 1, 4, 'step', null, '{}');
            select pg_temp.member(10, 1, 5, 'later', null, '{}');

            create function pg_temp.resolve(p_job bigint, p_row jsonb) returns jsonb language plpgsql as $$
            declare
              v_job postrider.jobs := pg_temp.job(p_row || (
                select jsonb_build_object('id', j.id, 'parent_id', j.parent_id) from postrider.jobs j
                  where j.id = p_job));
              v_outcome record := postrider_internal.fill_templates(v_job);
              v_filled postrider.jobs;
            begin
              if v_outcome.code is not null then
                return jsonb_build_object('code', v_outcome.code, 'sentence', v_outcome.defect);
              end if;
              v_filled := postrider_internal.filled_job(v_job);
              return jsonb_strip_nulls(jsonb_build_object('url', v_filled.url, 'query', v_filled.query, 'headers', v_filled.headers))
                || coalesce(jsonb_build_object('body_json', v_filled.body_json), '{}')
                || jsonb_build_object('body_form', v_filled.body_form, 'body_parts', v_filled.body_parts);
            end $$;
            """)
        self.queue = queue
    }

    /// Replaces the answer of a step.
    func answer(_ step: Int, type: String, body: String) throws {
        try queue.connection.execute(
            """
            delete from postrider_internal.results where job_id = \(step);
            select pg_temp.answer(\(step), 's', 200, 'content-type: \(type)', \(body))
            """)
    }

    /// The filled value of one column of job 9, or `code: sentence`.
    func fill(_ column: String, _ value: String, of job: Int = 9) throws -> String {
        let json =
            column == "url"
            ? "jsonb_build_object('service', 'api', 'url', $x$\(value)$x$)"
            : "jsonb_build_object('url', 'https://h.example/', '\(column)', $x$\(value)$x$::jsonb)"
        return try queue.text(
            """
            select coalesce((o.o ->> 'code') || ': ' || (o.o ->> 'sentence'), \(column == "url" ? "o.o ->> 'url'" : "(o.o -> '\(column)')::text"))
              from pg_temp.resolve(\(job), \(json)) as o(o)
            """) ?? "null"
    }
}
