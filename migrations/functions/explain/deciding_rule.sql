-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.deciding_rule(p_job bigint, p_fence bigint, p_words text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select p_words || n.rule from postrider_internal.attempt_notes n
                   where n.job_id = p_job and n.fence = p_fence), '')
$$;
comment on function postrider_internal.deciding_rule(bigint, bigint, text) is
  'words and the answer rule that decided an attempt; empty: no rule did';
