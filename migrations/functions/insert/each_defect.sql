-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.each_defect(p_batch jsonb, out below text, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  hint := 'Like {"each": "{{list.body.ids}}", "do": {"url": "/users/{{item}}"}}.';
  select '.' || k, 'no such key' into below, reason from jsonb_object_keys(p_batch) k
    where k not in ('each', 'do') limit 1;
  if found then
    return;
  end if;
  select d.below, d.reason, coalesce(d.hint, each_defect.hint) into below, reason, hint from (values
    (not p_batch ? 'each', '.each', 'is missing', null),
    (not p_batch ? 'do', '.do', 'is missing', null),
    (jsonb_typeof(p_batch -> 'each') not in ('array', 'string'), '.each', 'must be an array or a template', null),
    (jsonb_typeof(p_batch -> 'each') = 'string'
     and p_batch ->> 'each' !~ E'^[ \\t\\r\\n]*\\{\\{[^{}]+\\}\\}[ \\t\\r\\n]*$',
     '.each', 'is text but not a template', null),
    (p_batch -> 'each' = '[]', '.each', 'is empty', 'Give it at least one element.'),
    (jsonb_typeof(p_batch -> 'each') = 'array' and jsonb_array_length(p_batch -> 'each') > 10000,
     '.each', 'has more than 10000 elements', 'Split the list over several batches.'),
    (jsonb_typeof(p_batch -> 'do') <> 'object', '.do', 'must be an object', null),
    (p_batch -> 'do' ? 'name', '.do.name', 'would give all members the same name',
     'Leave it out; {{batch.results}} holds the results of the members, in the order of the list.')
  ) as d (bad, below, reason, hint)
  where d.bad limit 1;
  if not found then
    hint := null;
  end if;
end
$$;
comment on function postrider_internal.each_defect(jsonb) is
  'why {"each", "do"} is refused, the path below it, and a hint; nulls: valid';
