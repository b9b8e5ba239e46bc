// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Most rows with an operation are built from `operation_plans.job`, all others by `apply_operation`. Both give the same.
struct OperationCopyTests {
    @Test func `planned_job has each column that an operation may give, with the type of jobs`() throws {
        let queue = try TestQueue()
        let columns = """
            (select a.attname as name, a.atttypid as type from pg_attribute a
              where a.attrelid = '%'::regclass and a.attnum > 0 and not a.attisdropped)
            """
        let jobs = columns.replacing("%", with: "postrider.jobs")
        let planned = columns.replacing("%", with: "postrider_internal.planned_job")
        #expect(
            try queue.text(
                "select string_agg(j.name, ' ') from \(jobs) j join \(planned) p using (name) where j.type <> p.type")
                == nil)
        #expect(
            try queue.text(
                "select string_agg(j.name, ' ' order by j.name) from \(jobs) j left join \(planned) p using (name)"
                    + " where p.name is null")
                == "argument_types arguments body_parts created_at created_by dedupe_key each expires_at id kind "
                + "max_parallel mode name operation parent_id position rules run_at run_if traceparent tracestate")
        #expect(
            try queue.text(
                "select string_agg(p.name, ' ' order by p.name) from \(planned) p left join \(jobs) j using (name)"
                    + " where j.name is null")
                == "argument_check argument_names body_form_leaves body_json_leaves fill_columns fill_places "
                + "query_leaves url_argument url_end url_start")
    }

    @Test func `a row built from planned_job equals the row of apply_operation, refusals too`() throws {
        let queue = try TestQueue()
        // Each operation twice: the plan of slow has no planned_job.
        try queue.connection.execute(
            """
            insert into postrider.services (name, base_url) values ('api', 'http://127.0.0.1:9/');
            insert into postrider.operations (name, service, arguments, spec, overridable)
            select kind || '.' || o.name, o.service, o.arguments::jsonb, o.spec::jsonb, '{query}'
              from unnest('{fast,slow}'::text[]) kind cross join (values
              ('get', 'api', '{"id": "number"}',
               '{"url": "users/{{arg.id}}", "query": {"a": 1}, "headers": {"X-A": "b"}, "response_format": "json"}'),
              ('send', 'api', '{"id": "any", "text": "string", "n?": "number"}',
               '{"url": "mails/{{arg.id}}/x", "method": "post", "body_json": {"text": "{{arg.text}}", "from": "a"},
                 "tag": "t-{{arg.text}}", "priority": 3}'),
              ('list', 'api', '{"id": "string", "text": "string", "n?": "number"}',
               '{"url": "s?x=1", "query": {"id": "{{arg.id}}", "text": "{{arg.text}}"}, "queue": "q2", "lane": "l",
                 "headers": {"X-N": "{{arg.n}}", "X-T": "t{{arg.text}}"}, "timeout": "5 s", "max_attempts": 2,
                 "metadata": {"m": "{{arg.id}}"}}'),
              ('form', 'api', '{"id": "string", "text": "string"}',
               '{"url": "f/{{arg.id}}/{{arg.text}}", "method": "PUT", "body_form": {"id": "{{arg.id}}"},
                 "rules": [{"status": 404, "do": "retry"}], "ok_statuses": "{[200,300)}", "notify": true,
                 "delivery": "at_most_once", "on_duplicate": "skip"}'),
              ('rare', 'api', '{"id": "string"}',
               '{"url": "{{arg.id}}", "cache_ttl": "1 hour", "cache_sensitive": "{{arg.id}}", "cache_version": 3,
                 "validator": {"id": "number"}, "extract": "$.x", "response_format": "json", "result_type": "object",
                 "require_data": true, "max_response": 100000, "max_redirects": 2, "decode": false,
                 "use_envelope": false, "backoff": ["1 s", "2 s"], "ignore_cache": true, "login_required": false}'),
              ('text', null, '{"id": "string"}',
               '{"url": "http://h.example/{{arg.id}}", "method": "POST", "body": "hello", "metadata": {"x": 1},
                 "tag": "fix", "callback_url": "http://h.example/done"}'),
              ('key', 'api', '{"id": "string"}', '{"url": "k", "dedupe_key": "{{arg.id}}"}'),
              ('parts', 'api', '{"id": "string"}',
               '{"url": "p", "method": "POST", "body_parts": [{"name": "a", "content": "{{arg.id}}"}]}'),
              ('bare', 'api', '{}', '{"url": "n"}')) o (name, service, arguments, spec);
            update postrider_internal.operation_plans set job = null where operation like 'slow.%';
            create function pg_temp.stored(p_operation text, p_arguments jsonb, p_given jsonb) returns text
            language plpgsql as $$
            declare
              v_text text;
            begin
              insert into postrider.jobs (operation, arguments, queue, priority, tag, method, query, headers, notify,
                                          timeout, max_attempts, metadata, name)
              values (p_operation, p_arguments, case when p_given ? 'queue' then p_given ->> 'queue' else 'default' end,
                      coalesce((p_given ->> 'priority')::int, 0), p_given ->> 'tag',
                      coalesce(p_given ->> 'method', 'GET'), p_given -> 'query', p_given -> 'headers',
                      p_given ? 'notify', (p_given ->> 'timeout')::interval,
                      coalesce((p_given ->> 'max_attempts')::int, 5), p_given -> 'metadata', p_given ->> 'name')
              returning (to_jsonb(jobs.*) - '{id,run_at,created_at}'::text[])::text into v_text;
              delete from postrider_internal.dedupe_keys;
              return v_text;
            exception when others then
              get stacked diagnostics v_text = pg_exception_hint;
              return sqlerrm || ' ' || v_text;
            end
            $$;
            """)
        let rows = try queue.rows(
            """
            with ids (id) as (
              values ('7'::jsonb), ('5.5'), ('-3'), ('1e30'), ('null'), ('true'), ('"x"'), ('"a b/c"'), ('".."'),
                     ('""'), ('"é"'), ('"a{{b"'), ('"http://evil.example/"'), ('{"a": 1}'), ('["x"]'),
                     (to_jsonb(repeat('y', 201))), (to_jsonb(repeat('y', 401)))),
            more (more) as (
              values ('{}'::jsonb), ('{"text": "x"}'), ('{"text": "{{x}}", "n": 1.50}'), ('{"text": "", "n": null}'),
                     (E'{"text": "a\\\\nb", "n": 2}'), ('{"text": "x", "z": 1}')),
            given (given) as (
              values ('{}'::jsonb), ('{"queue": "q9", "priority": 7, "tag": "own", "metadata": {"z": 1}}'),
                     ('{"timeout": "9 s", "max_attempts": 9, "notify": true, "name": "n"}'), ('{"queue": null}'),
                     ('{"method": "POST"}'), ('{"query": {"q": 1}}'), ('{"headers": {"x-a": "c"}}'),
                     ('{"priority": 101}'), (jsonb_build_object('tag', repeat('t', 401)))),
            stored as (
              select o.name, a.arguments, g.given, pg_temp.stored('fast.' || o.name, a.arguments, g.given) as fast,
                     pg_temp.stored('slow.' || o.name, a.arguments, g.given) as slow
                from unnest('{get,send,list,form,rare,text,key,parts,bare}'::text[]) o (name)
               cross join (select null union all
                           select m.more || case when i.id = 'null' then '{}' else jsonb_build_object('id', i.id) end
                             from ids i cross join more m) a (arguments)
               cross join given g)
            select concat_ws(' ', count(*) filter (where s.fast like '{%') > 500,
                             count(*) filter (where s.fast not like '{%') > 500),
                   min(concat_ws(' | ', s.name, s.arguments, s.given, s.fast, s.slow))
                     filter (where s.fast <> replace(s.slow, 'slow.', 'fast.'))
              from stored s
            """)
        #expect(rows == [["t t", nil]])
    }

    @Test func `a large INSERT of one operation goes to lists, and one bad row refuses it`() throws {
        let queue = try OperationTests.queue()
        try queue.connection.execute(
            """
            insert into postrider.jobs (operation, arguments)
            select 'user', jsonb_build_object('id', i) from generate_series(1, 12000) i
            """)
        #expect(
            try queue.text(
                """
                select concat_ws(' ', count(*), min(i.lane), max(i.lane), max(i.priority),
                                 sum(i.last_id - i.first_id + 1), count(i.ids))
                  from postrider_internal.intake i
                """) == "12 accounts accounts 2 12000 0")
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute(
                """
                insert into postrider.jobs (operation, arguments)
                select 'user', jsonb_build_object('id', case when i = 11000 then '"x"' else to_jsonb(i) end)
                  from generate_series(1, 12000) i
                """)
        }
        #expect(error?.message == "jobs.arguments: id should be a number and is a string")
        let other = #expect(throws: PGError.self) {
            try queue.connection.execute(
                """
                insert into postrider.jobs (operation, arguments, priority)
                select 'user', '{"id": 1}', case when i = 11000 then 101 else 1 end from generate_series(1, 12000) i
                """)
        }
        #expect(other?.message == "jobs.priority: 101 is out of range")
        #expect(try queue.number("select count(*) from postrider.jobs") == 12_000)
    }
}
