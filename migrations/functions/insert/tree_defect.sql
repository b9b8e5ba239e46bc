-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.tree_defect(p_job postrider.jobs, out column_name text, out reason text,
                                                          out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select d.c, 'is for requests, and this is a ' || p_job.kind, 'Give it to the members.' into column_name, reason, hint
    from (values
    (p_job.url is not null, 'url'), (p_job.method <> 'GET', 'method'),
    (p_job.use_cdn, 'use_cdn'), (p_job.query is not null, 'query'), (p_job.headers is not null, 'headers'),
    (p_job.body is not null, 'body'), (p_job.body_json is not null, 'body_json'),
    (p_job.body_form is not null, 'body_form'), (p_job.body_parts is not null, 'body_parts'),
    (p_job.backoff is not null, 'backoff'),
    (p_job.login_required, 'login_required'),
    (p_job.response_format <> 'raw', 'response_format'), (p_job.ok_statuses is not null, 'ok_statuses'),
    (p_job.decode is not null, 'decode'), (p_job.use_envelope is not null, 'use_envelope'),
    (p_job.require_data is not null, 'require_data'), (p_job.max_redirects is not null, 'max_redirects'),
    (p_job.validator is not null, 'validator'), (p_job.extract is not null, 'extract'),
    (p_job.result_type <> 'any', 'result_type'), (p_job.max_response is not null, 'max_response'),
    (p_job.download_to is not null, 'download_to'), (p_job.sha256 is not null, 'sha256'),
    (p_job.cache_ttl is not null, 'cache_ttl'), (p_job.cache_sensitive is not null, 'cache_sensitive'),
    (p_job.lane is not null, 'lane'), (p_job.delivery <> 'at_least_once', 'delivery'),
    (p_job.max_attempts <> 5, 'max_attempts'),
    (p_job.cache_version <> 0, 'cache_version'), (p_job.ignore_cache, 'ignore_cache'),
    (p_job.paginate is not null, 'paginate'), (p_job.rules is not null, 'rules')
  ) as d(bad, c)
  where d.bad limit 1;
  if column_name is not null then
    return;
  end if;
  select d.c, d.r, d.h into column_name, reason, hint from (values
    (p_job.mode not in ('all', 'settle', 'first'),
     'mode', 'must be all, settle or first',
     'all: the first failure ends it; settle: every member runs; first: one success is enough.'),
    (p_job.kind = 'chain' and p_job.mode <> 'all',
     'mode', 'is for batches', 'Leave it out: a chain stops at its first failure.'),
    (p_job.kind = 'chain' and p_job.max_parallel is not null,
     'max_parallel', 'is for batches', 'Leave it out: a chain runs one step at a time.'),
    (p_job.credential is not null and p_job.service is null,
     'credential', 'is passed to members only together with service, which is missing',
     'Give service too, or give credential to the members.'),
    (p_job.max_parallel < 1,
     'max_parallel', format('%s is out of range', p_job.max_parallel),
     'Give 1 or more, or leave it out for all at once.'),
    (p_job.kind = 'chain' and p_job.each is not null,
     'each', 'is for batches', 'Leave it out.')
  ) as d(bad, c, r, h)
  where d.bad limit 1;
end
$$;
comment on function postrider_internal.tree_defect(postrider.jobs) is
  'the first column of a batch or chain that breaks a rule, the reason and a hint; nulls: valid';
