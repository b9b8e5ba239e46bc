-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.resume_queue(queue text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform postrider_internal.raise_null_argument('queue', resume_queue.queue is null,
    'Give the name of a queue; see select queue from postrider.queue_status.');
  update postrider.queues q set paused = false where q.name = resume_queue.queue and q.paused;
end
$$;
comment on function postrider.resume_queue(text) is 'ends the pause of a queue; does nothing if it is not paused';
