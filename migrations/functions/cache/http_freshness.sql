-- SPDX-License-Identifier: Apache-2.0
-- RFC 9111 for a private cache: private is allowed, and s-maxage does not apply. If the server gives no lifetime, none
-- is guessed (section 4.2.2 would allow it). Such an answer serves only after revalidation.
--
-- The age of an answer is the larger of its Age and the time since its Date (section 4.2.3). Date has whole seconds.
create or replace function postrider_internal.http_freshness(
  p_headers bytea, p_now timestamptz, out is_storable boolean, out fresh interval, out is_strict boolean,
  out vary text[])
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_control jsonb := postrider_internal.cache_control(postrider_internal.header_value(p_headers, 'cache-control'));
  v_vary text := postrider_internal.header_value(p_headers, 'vary');
  v_expires text;
  v_date timestamptz := postrider_internal.http_time(postrider_internal.header_value(p_headers, 'date'));
  v_seconds numeric;
begin
  vary := array(
    select distinct lower(btrim(n) collate "C") from string_to_table(v_vary, ',') n where btrim(n) <> '' order by 1);
  is_storable := not v_control ? 'no-store' and not '*' = any (vary);
  is_strict := v_control ?| '{no-cache,must-revalidate}';
  if v_control ? 'no-cache' then
    -- With field names (no-cache="set-cookie") it may be treated as if it had none.
    v_seconds := 0;
  elsif v_control ? 'max-age' then
    v_seconds := case when v_control ->> 'max-age' ~ E'^[0-9]+$'
      then least((v_control ->> 'max-age')::numeric, 2147483648) else 0 end;
  else
    v_expires := postrider_internal.header_value(p_headers, 'expires');
    if v_expires is not null then
      v_seconds := coalesce(extract(epoch from postrider_internal.http_time(v_expires) - coalesce(v_date, p_now)), 0);
    end if;
  end if;
  v_seconds := coalesce(v_seconds, 0) - greatest(
    substring(postrider_internal.header_value(p_headers, 'age') from E'^[0-9]{1,10}')::numeric,
    floor(extract(epoch from p_now - v_date)), 0);
  fresh := make_interval(secs => greatest(v_seconds, 0));
end
$$;
comment on function postrider_internal.http_freshness(bytea, timestamptz) is
  'http mode: whether an answer may be stored, how long it is fresh, whether it must never serve stale, its Vary';
