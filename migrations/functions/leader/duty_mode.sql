-- SPDX-License-Identifier: Apache-2.0
-- Which session begins members of batches and chains, and so what may be read and evaluated there:
-- - '': a client's own, which may do all of it
-- - on: one that ends an attempt or a job; settle does all that takes longer than 100 ms
-- - settle: the duties session, which carries heartbeats
-- - tick: the same, at the end of a transaction that made the jobs of a schedule; all of it is left to settle
-- - judge: the judging session, which may do all of it for a limited time
--
-- If on or settle meets work that only a judging session may do, PR016 is raised, and a judging session does it.
create or replace function postrider_internal.duty_mode() returns text
language sql stable parallel safe
as $$
  select coalesce(current_setting('postrider.is_told', true), '')
$$;
comment on function postrider_internal.duty_mode() is
  'what may be read and evaluated in this transaction to begin members of batches and chains';
