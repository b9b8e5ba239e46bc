-- SPDX-License-Identifier: Apache-2.0
-- The secondary key of RFC 9111 section 4.1. Each new row has a new salt, so without the row no variant is found.
create or replace function postrider_internal.cache_variant(p_key bytea, p_job jsonb, p_service jsonb) returns bytea
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_salt bytea;
  v_names text[];
begin
  select v.salt, v.names into v_salt, v_names from postrider_internal.cache_varies v where v.key = p_key;
  if not found then
    return p_key;
  end if;
  return sha256(p_key || v_salt || convert_to((
    select string_agg(n.name || ':' || coalesce(h.value, ''), E'\n' order by n.name)
      from unnest(v_names) n(name)
      left join lateral (
           select o.value::text
             from (select 1 as place, * from jsonb_each(p_job) union all select 2, * from jsonb_each(p_service)) o
            where lower(o.key collate "C") = n.name
            order by o.place limit 1) h on true), 'UTF8'));
end
$$;
comment on function postrider_internal.cache_variant(bytea, jsonb, jsonb) is
  'http mode: the key of the variant for the headers of job and service; without variants the key itself';
