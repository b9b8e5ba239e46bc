-- SPDX-License-Identifier: Apache-2.0
-- The forms of Retry-After and its relatives that the worker reads, too (WaitingTime):
-- - seconds, also with decimals; from 10^9 on they are seconds since 1970, from 10^12 on milliseconds
-- - dates of HTTP with any zone, and of RFC 3339
-- - durations like 3s, 1m0s and 500ms
--
-- p_now: seconds since 1970.
create or replace function postrider_internal.waiting_ms(p_text text, p_now numeric) returns bigint
language plpgsql stable strict
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO, MDY'
as $$
declare
  v_text constant text := btrim(p_text, E' \t');
  v_seconds numeric;
  v_found text[];
begin
  if length(v_text) not between 1 and 100 then
    return null;
  elsif v_text ~ '^[0-9]+([.][0-9]+)?$' then
    v_seconds := v_text::numeric;
    v_seconds := case when v_seconds >= 1e12 then v_seconds / 1000 - p_now when v_seconds >= 1e9 then v_seconds - p_now
                 else v_seconds end;
  else
    v_found := regexp_match(lower(v_text collate "C"),
      '^(?:([0-9.]+)d)?(?:([0-9.]+)h)?(?:([0-9.]+)m)?(?:([0-9.]+)s)?(?:([0-9.]+)ms)?'
      || '(?:([0-9.]+)(?:us|µs))?(?:([0-9.]+)ns)?$');
    if v_found is not null then
      v_seconds := coalesce(v_found[1]::numeric * 86400, 0) + coalesce(v_found[2]::numeric * 3600, 0)
        + coalesce(v_found[3]::numeric * 60, 0) + coalesce(v_found[4]::numeric, 0)
        + coalesce(v_found[5]::numeric / 1e3, 0) + coalesce(v_found[6]::numeric / 1e6, 0)
        + coalesce(v_found[7]::numeric / 1e9, 0);
    elsif v_text ~* ('^[0-9]{4}-[0-9]{2}-[0-9]{2}[t ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?'
                     || '(z|[+-][0-9]{2}:?[0-9]{2})$')
       or v_text ~* ('^([a-z]{3,9},? )?[0-9]{1,2}[ -][a-z]{3}[ -][0-9]{2,4} [0-9]{2}:[0-9]{2}:[0-9]{2} '
                     || '(gmt|utc|z|[+-][0-9]{4})$')
       or v_text ~* '^[a-z]{3} [a-z]{3} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4}$' then
      v_seconds := extract(epoch from coalesce(postrider_internal.http_time(v_text), v_text::timestamptz)) - p_now;
    end if;
  end if;
  -- greatest() would turn a null into 0.
  return case when v_seconds is not null then ceil(least(greatest(v_seconds, 0), 3600) * 1000)::bigint end;
exception when data_exception then
  return null;
end
$$;
comment on function postrider_internal.waiting_ms(text, numeric) is
  'the wait in milliseconds that a text of an answer asks for, at most an hour; null: it has no known form';
