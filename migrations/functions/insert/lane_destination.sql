-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL inlines this function into queue_new_jobs. p_jobs: rows of the track in the INSERT. p_is_behind and
-- p_is_behind_crowd: its track has rows in lists of one lane, or of several lanes. p_is_large: the INSERT has at least
-- 10,000 due rows. p_has_many_lanes: more than 256 of its lanes have fewer than 1000 rows.
create or replace function postrider_internal.lane_destination(
  p_jobs bigint, p_is_behind boolean, p_is_behind_crowd boolean, p_is_large boolean,
  p_has_many_lanes boolean) returns text
language sql immutable parallel safe
as $$
  select case
    when p_is_behind or p_jobs >= 1000 and (p_is_behind_crowd or p_is_large) then 'list'
    when p_jobs < 1000 and (p_is_large or p_has_many_lanes) then 'crowd'
    when p_is_behind_crowd then 'list'
    else 'ready'
  end
$$;
comment on function postrider_internal.lane_destination(bigint, boolean, boolean, boolean, boolean) is
  'where an INSERT puts the due rows of a track: ready, list (of one lane) or crowd (a list of several lanes)';
