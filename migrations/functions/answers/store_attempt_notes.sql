-- SPDX-License-Identifier: Apache-2.0
-- p_codes, p_names and p_rules have the indexes of p_attempts. A stub has left its note before the call.
create or replace function postrider_internal.store_attempt_notes(
  p_attempts postrider_internal.finished_attempt[], p_done bigint[], p_codes text[], p_names text[], p_rules text[])
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into postrider_internal.envelope_errors (job_id, fence, code, name)
  select (p_attempts[c.place]).job_id, (p_attempts[c.place]).fence, p_codes[c.place], p_names[c.place]
    from generate_subscripts(p_attempts, 1) as c (place)
   where num_nonnulls(p_codes[c.place], p_names[c.place]) > 0 and (p_attempts[c.place]).seq = any (p_done)
      on conflict do nothing;
  insert into postrider_internal.attempt_notes as n (job_id, fence, rule)
  select (p_attempts[c.place]).job_id, (p_attempts[c.place]).fence, p_rules[c.place]
    from generate_subscripts(p_attempts, 1) as c (place)
   where p_rules[c.place] is not null and (p_attempts[c.place]).seq = any (p_done)
      on conflict (job_id, fence) do update set rule = excluded.rule
$$;
comment on function postrider_internal.store_attempt_notes(
    postrider_internal.finished_attempt[], bigint[], text[], text[], text[]) is
  'stores the codes and names of errors, and the rules that decided, of attempts whose lease held';
