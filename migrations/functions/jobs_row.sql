-- SPDX-License-Identifier: Apache-2.0
-- Before the row: what is skipped is never inserted, and RETURNING does not show it. A row that breaks a rule passes and takes
-- nothing; jobs_feed refuses it by its column. One trigger for both that rows seldom have: each condition is looked at for each row.
create or replace function postrider.jobs_row() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_holder bigint;
begin
  if new.each is not null then
    new.each := postrider.each_times(new.each);
  end if;
  if new.dedupe_key is null or new.queue is null or new.on_duplicate in ('error', 'skip') is not true or length(new.dedupe_key) not between 1 and 1000 then
    return new;
  end if;
  v_holder := postrider.dedupe_holder(new.queue, new.dedupe_key, new.id);
  if v_holder is null then
    return new;
  elsif new.on_duplicate = 'skip' then
    -- A row that breaks a rule is refused on the days on which its key is taken, too.
    perform postrider.admit_job(new);
    return null;
  end if;
  raise unique_violation using schema = 'postrider', table = 'jobs', column = 'dedupe_key',
    message = format('jobs.dedupe_key: job %s of queue %s has this key and has not finished', v_holder, quote_ident(new.queue)),
    hint = 'Wait for its end or cancel it; with on_duplicate ''skip'' the row is quietly left out.';
end
$$;
comment on function postrider.jobs_row() is
  'private: row trigger of jobs with a dedupe_key (refuses or skips a row whose key an unfinished job of its queue has) or an each (its times are read)';

create or replace trigger jobs_row
  before insert on postrider.jobs
  for each row when (new.dedupe_key is not null or new.each is not null) execute function postrider.jobs_row();
drop trigger if exists jobs_dedupe on postrider.jobs;
drop function if exists postrider.jobs_dedupe();
