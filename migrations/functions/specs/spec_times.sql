-- SPDX-License-Identifier: Apache-2.0
-- Times are resolved now, with the time zone and date style of the client. A worker would read them with its own:
-- another moment, or an error. Only times of the spec itself are resolved, in chains and batches too, because request
-- bodies may have the same keys.
create or replace function postrider_internal.spec_times(p_spec jsonb, p_keeps_words boolean) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_spec jsonb := p_spec;
  v_key text;
begin
  if jsonb_typeof(v_spec) <> 'object' then
    return v_spec;
  end if;
  foreach v_key in array '{run_at,expires_at}'::text[] loop
    if jsonb_typeof(v_spec -> v_key) = 'string'
      and not (p_keeps_words and v_spec ->> v_key ~* 'now|today|tomorrow|yesterday') then
      v_spec := v_spec || jsonb_build_object(v_key, (v_spec ->> v_key)::timestamptz);
    end if;
  end loop;
  foreach v_key in array '{chain,batch}'::text[] loop
    if jsonb_typeof(v_spec -> v_key) = 'array' then
      v_spec := v_spec || jsonb_build_object(v_key, (
        select coalesce(jsonb_agg(postrider_internal.spec_times(e.value, p_keeps_words) order by e.place), '[]')
          from jsonb_array_elements(v_spec -> v_key) with ordinality e (value, place)));
    elsif jsonb_typeof(v_spec -> v_key) = 'object' and v_spec -> v_key ? 'do' then
      v_spec := jsonb_set(v_spec, array[v_key, 'do'],
                          postrider_internal.spec_times(v_spec -> v_key -> 'do', p_keeps_words));
    end if;
  end loop;
  return v_spec;
end
$$;
comment on function postrider_internal.spec_times(jsonb, boolean) is
  'a spec with its times in ISO 8601 with offset; p_keeps_words: keeps words like tomorrow';
