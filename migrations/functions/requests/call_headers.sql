-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.call_headers(p_job jsonb, p_common jsonb) returns text[]
language plpgsql immutable parallel safe
as $$
declare
  v_names jsonb;
  v_own text[] := '{}';
  v_pairs text[];
  v_kept text[] := '{}';
begin
  if p_common is null then
    return postrider_internal.pairs(p_job);
  end if;
  v_pairs := postrider_internal.pairs(p_common);
  if p_job is null then
    return v_pairs;
  end if;
  -- Compares names, not pairs: an empty array of the job removes the header of the service.
  v_names := jsonb_path_query_array(p_job, '$.keyvalue().key');
  for i in 0 .. jsonb_array_length(v_names) - 1 loop
    v_own := v_own || lower((v_names ->> i) collate "C");
  end loop;
  for i in 1 .. cardinality(v_pairs) by 2 loop
    if lower(v_pairs[i] collate "C") <> all (v_own) then
      v_kept := v_kept || v_pairs[i:i + 1];
    end if;
  end loop;
  return v_kept || postrider_internal.pairs(p_job);
end
$$;
comment on function postrider_internal.call_headers(jsonb, jsonb) is
  'name, value, ... of a call: headers of the service that the job does not set, then headers of the job';
