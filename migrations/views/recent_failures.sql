-- SPDX-License-Identifier: Apache-2.0
-- Takes the last 100 failures of all roles and shows those that the reader may see. The limit at the end removes no
-- row. It shows the planner that there are few rows. Otherwise JIT would compile the expressions (60 ms).
create or replace view postrider.recent_failures with (security_barrier) as
select r.job_id as id, j.queue, postrider_internal.job_lane(coalesce(j.lane, j.service), j.url) as lane,
       postrider_internal.state_name(r.state) as state, r.finished_at, r.attempt, case when j.kind = 'request'
         then j.method end as method,
       postrider_internal.url_without_login(coalesce((select f.url from postrider_internal.filled_templates f
                                                      where f.job_id = j.id and j.parent_id is not null limit 1),
                                                     j.url)) as url,
       r.status_code::int as status_code, r.error_code, r.error, j.tag, j.service,
       (select e.code from postrider_internal.envelope_errors e
        where e.job_id = r.job_id and e.fence = r.fence) as envelope_code,
       (select e.name from postrider_internal.envelope_errors e
        where e.job_id = r.job_id and e.fence = r.fence) as error_name
  from (select * from postrider_internal.results f
         where postrider_internal.is_failure(f.state) order by f.finished_at desc, f.job_id desc limit 100) r
  join postrider.jobs j on j.id = r.job_id
 where j.created_by = current_user or (select postrider_internal.sees_all())
 order by r.finished_at desc, r.job_id desc
 limit 100;
comment on view postrider.recent_failures is
  'the last 100 jobs that failed, expired or ended unknown, newest first';
comment on column postrider.recent_failures.id is 'id of the job';
comment on column postrider.recent_failures.queue is 'queue of the job';
comment on column postrider.recent_failures.lane is 'lane of the job';
comment on column postrider.recent_failures.state is 'failed, expired or unknown';
comment on column postrider.recent_failures.finished_at is 'when the job ended';
comment on column postrider.recent_failures.attempt is 'number of attempts';
comment on column postrider.recent_failures.method is 'method of the request; null for batches and chains';
comment on column postrider.recent_failures.url is 'URL with filled templates, without user and password';
comment on column postrider.recent_failures.status_code is 'status of the last answer; null: no answer';
comment on column postrider.recent_failures.error_code is 'why the job did not succeed, from error_codes';
comment on column postrider.recent_failures.error is 'the error in a sentence, with advice';
comment on column postrider.recent_failures.tag is 'tag of the job';
comment on column postrider.recent_failures.service is 'service of the job';
comment on column postrider.recent_failures.envelope_code is
  'code in the last answer, by services.envelope, if it failed the job';
comment on column postrider.recent_failures.error_name is 'name of envelope_code in services.envelope; null: no name';
