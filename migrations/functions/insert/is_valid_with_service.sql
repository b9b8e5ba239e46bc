-- SPDX-License-Identifier: Apache-2.0
-- after: insert/is_valid_apart_from_request.sql
-- A quick check for common rows with more than a URL: a service, headers, arguments, limits, times. It is one
-- expression that the planner inlines. It takes 15 µs a row, refuse_bad_job 300 µs. Rows that it does not accept go
-- to refuse_bad_job. It does not check the size of the body.
create or replace function postrider_internal.is_valid_with_service(p_job postrider.jobs,
                                                                    p_service postrider.services) returns boolean
language sql stable parallel safe
as $$
  select p_job.method in ('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS')
     and (p_service.name is not null or p_job.service is null)
     and p_job.url !~ '[^]!-[^-~]' and octet_length(p_job.url) between 1 and 4000
     and case when p_job.url like 'http://%' or p_job.url like 'https://%'
              then postrider_internal.is_plain_host(split_part(p_job.url, '/', 3))
              else (p_service.has_servers or p_service.base_url is not null)
                and coalesce(length(p_service.base_url), 0) < 4000
                   and p_job.url not like '%:%' and p_job.url not like '//%' end
     and not (p_job.use_cdn or p_job.login_required or p_job.ignore_cache)
     and postrider_internal.is_valid_apart_from_request(p_job)
     and (p_job.cache_ttl is null or p_job.cache_ttl > interval '0' and p_job.cache_ttl <= interval '100 years')
     and (p_job.headers is null
          or octet_length(p_job.headers::text) <= 4000
            and p_job.headers::text ~ E'^\\{("[A-Za-z0-9-]+": "[ !#-\\[\\]-~]*"(, )?)*\\}$'
             and p_job.headers::text !~* '"(host|content-length|transfer-encoding|connection|expect|te|trailer|upgrade|keep-alive|proxy-[^"]*)":')
     and (p_job.query is null
          or jsonb_typeof(p_job.query) = 'object' and octet_length(p_job.query::text) <= 65536
             and not jsonb_path_exists(p_job.query, 'strict $.* ? (@.type() == "object" || @.type() == "array")'))
     and num_nonnulls(p_job.body, p_job.body_json, p_job.body_form) <= (p_job.method <> 'HEAD')::int
     and (p_job.body_form is null or jsonb_typeof(p_job.body_form) = 'object'
          and octet_length(p_job.body_form::text) <= 20000)
     and (p_job.response_format = 'raw' or p_job.response_format = 'json' and p_job.method <> 'HEAD')
     and p_job.result_type = 'any'
     and (p_job.ok_statuses is null or not isempty(p_job.ok_statuses)
          and p_job.ok_statuses <@ '{[100,600)}'::int4multirange)
     and (p_job.max_response is null or postrider_internal.is_response_limit(p_job.max_response))
     and num_nonnulls(
           p_job.backoff, p_job.body_parts, p_job.credential,
           p_job.validator, p_job.extract, p_job.require_data, p_job.max_redirects, p_job.download_to, p_job.sha256,
           p_job.paginate, p_job.arguments, p_job.rules,
           p_job.operation_revision, p_job.operation_rules, p_job.argument_types) = 0
$$;
comment on function postrider_internal.is_valid_with_service(postrider.jobs, postrider.services) is
  'whether a job with its service (nulls: none) is valid by quick checks; if false, job_defect decides';
