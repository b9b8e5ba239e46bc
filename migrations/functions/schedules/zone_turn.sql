-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.zone_turn(p_zone text, p_from timestamptz,
                                                        p_to timestamptz) returns timestamptz
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_offset interval := (p_from at time zone p_zone) - (p_from at time zone 'UTC');
  v_from timestamptz := p_from;
  v_to timestamptz := p_to;
  v_middle timestamptz;
begin
  while v_to - v_from > interval '1 s' loop
    v_middle := v_from + make_interval(secs => ceil(extract(epoch from v_to - v_from) / 2)::int);
    if (v_middle at time zone p_zone) - (v_middle at time zone 'UTC') = v_offset then
      v_from := v_middle;
    else
      v_to := v_middle;
    end if;
  end loop;
  return v_to;
end
$$;
comment on function postrider_internal.zone_turn(text, timestamptz, timestamptz) is
  'the time, in whole seconds, at which the offset of a zone changes between two times around one change';
