-- SPDX-License-Identifier: Apache-2.0
-- The message names the job that owns the key. A job of the same spec is gone with the refused INSERT; then the second
-- job with the key is meant. A finished job is not reported. An INSERT would not reveal its key either, and any client
-- may call this.
create or replace function postrider_internal.spec_duplicate(p_nodes postrider_internal.spec_node[],
                                                             p_message text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select k.place
    from (select n.place, n.spec ->> 'dedupe_key' as key, n.rank, coalesce(n.spec ->> 'queue', 'default') as queue,
                 row_number() over (partition by coalesce(n.spec ->> 'queue', 'default'), n.spec ->> 'dedupe_key'
                                    order by n.rank) as nth
            from unnest(p_nodes) with ordinality n (level, parent, "position", place, kind, parent_kind, is_in_each,
                                                    spec, each, rank)
           where n.spec ->> 'dedupe_key' is not null) k
    left join postrider.jobs j on j.id = substring(p_message from 'job ([0-9]+)')::bigint and j.dedupe_key = k.key
      and j.queue = k.queue
         and not postrider_internal.job_has_ended(j.id)
   where j.id is not null or k.nth > 1
   order by j.id is null, k.rank
   limit 1
$$;
comment on function postrider_internal.spec_duplicate(postrider_internal.spec_node[], text) is
  'the path in a spec of the job whose dedupe_key was refused with this message; null: unknown';
