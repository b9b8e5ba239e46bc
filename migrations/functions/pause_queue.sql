-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.pause_queue(name text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into postrider.queues as q (name, paused) values (pause_queue.name, true)
      on conflict (name) do update set paused = true
$$;
comment on function postrider.pause_queue(text) is
  'public: no call of the queue''s jobs begins from now on; calls under way go on. It need not exist yet';
