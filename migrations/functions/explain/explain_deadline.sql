-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.explain_deadline(p_expires_at timestamptz, p_at timestamptz) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format(case
           when p_expires_at <= now() then '; but its expires_at, %s, has passed, so it ends in a moment'
           when p_expires_at <= p_at then '; but its expires_at, %s, comes before that and ends it'
           else '; it ends if it has not begun by its expires_at, %s' end,
           to_char(p_expires_at, 'YYYY-MM-DD HH24:MI:SS TZ'))
   where isfinite(p_expires_at)
$$;
comment on function postrider_internal.explain_deadline(timestamptz, timestamptz) is
  'the part of explain that says when an unstarted job expires; p_at: its expected start; null: it does not expire';
