-- SPDX-License-Identifier: Apache-2.0
-- Decides which work a session may do when it begins members of batches and chains:
-- - '': a client's session, which may do all work
-- - on: a session that ends an attempt or a job; settle does all work that takes longer than 100 ms
-- - settle: the duties session, which sends heartbeats
-- - tick: the same session, at the end of a transaction that made the jobs of a schedule; settle does all this work
-- - judge: the judging session, which may do all work for a limited time
--
-- If on or settle meets work that only a judging session may do, it raises PR016, and a judging session does it.
create or replace function postrider_internal.duty_mode() returns text
language sql stable parallel safe
as $$
  select coalesce(current_setting('postrider.duty_mode', true), '')
$$;
comment on function postrider_internal.duty_mode() is
  'which expressions this transaction may evaluate when it begins members of batches and chains';
