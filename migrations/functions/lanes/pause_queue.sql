-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.pause_queue(queue text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.raise_null_argument('queue', pause_queue.queue is null,
    'Give the name of a queue; see select queue from postrider.queue_status.');
  insert into postrider.queues as q (name, paused) values (pause_queue.queue, true)
      on conflict (name) do update set paused = true;
end
$$;
comment on function postrider.pause_queue(text) is
  'stops new calls for jobs of a queue until resume_queue; calls in flight continue';
