-- SPDX-License-Identifier: Apache-2.0
-- Scheme, host and port must stand before the first argument, so that no value can send the request and its secrets
-- elsewhere.
create or replace function postrider_internal.operation_place_defect(
  p_operation postrider.operations, out reason text, out hint text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
  v_names text[] := array(select rtrim(k, '?') from jsonb_object_keys(p_operation.arguments) k);
begin
  for v_found in
    select array_to_string(p.path, '.') as place, p.path, p.kind, p.whole, p.parts, e.part, e.nth
      from postrider_internal.argument_places(p_operation.spec) p
     cross join lateral unnest(p.parts) with ordinality e (part, nth)
     where e.nth % 2 = 0 and e.part like 'arg.%'
  loop
    if substr(v_found.part, 5) <> all (v_names) then
      reason := format('%s: {{%s}} is not in arguments', v_found.place, left(v_found.part, 80));
      hint := case when v_found.part ~ '^arg[.][A-Za-z0-9_]+$' then 'Add it to arguments with its type, or correct the name.'
                   else 'An argument stands as a whole, like {{arg.id}}; paths into it are not possible.' end;
    elsif v_found.kind is null then
      reason := format('%s: holds an argument, but this key cannot have any', v_found.place);
      hint := 'Arguments may stand in url, query, headers, bodies, tag, dedupe_key, lane, cache_sensitive and metadata.';
    elsif v_found.kind = 'u' and v_found.whole is null and v_found.nth = 2
          and (v_found.parts[1] ~ E'^([A-Za-z][A-Za-z0-9+.-]*:|[/\\\\]{2})'
               and v_found.parts[1] !~ E'^[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\\\]+[/?#]') then
      reason := format('%s: takes its scheme, host or port from an argument', v_found.place);
      hint := 'Write them out, or name a service and give a path, like users/{{arg.id}}.';
    elsif v_found.kind = 'u' and v_found.whole is not null
          and num_nonnulls(p_operation.service, p_operation.spec ->> 'service') = 0 then
      reason := format('%s: is one whole argument, but the operation has no service', v_found.place);
      hint := 'Name the service whose URLs it may be.';
    end if;
    if reason is not null then
      return;
    end if;
  end loop;
  hint := null;
end
$$;
comment on function postrider_internal.operation_place_defect(postrider.operations) is
  'why an argument may not stand where the spec of an operation has it, and a hint; nulls: valid';
