-- SPDX-License-Identifier: Apache-2.0
-- The first branch returns at once for a plain request, the most frequent kind.
--
-- A missing key makes a comparison null, so its branch is not taken.
--
-- below: the path of the defect below this job, like .chain; empty if the job itself is wrong.
create or replace function postrider_internal.spec_shape(p_level int, p_spec jsonb, out below text, out reason text,
                                                         out hint text)
language plpgsql immutable
as $$
declare
  v_kind text := case when p_spec ? 'chain' then 'chain' when p_spec ? 'batch' then 'batch' else 'request' end;
begin
  if jsonb_typeof(p_spec) = 'object' and not p_spec ?| '{chain,batch,kind}' and p_level <= 32 then
    return;
  elsif p_level > 32 then
    below := '';
    reason := 'is more than 32 levels deep';
    hint := 'Nest less: a chain in a chain can be one longer chain.';
  elsif coalesce(jsonb_typeof(p_spec), 'null') <> 'object' then
    below := '';
    reason := 'must be an object';
    hint := 'Like {"url": "https://api.example.com/ping"}; the keys are the columns of postrider.jobs, chain and batch.';
  elsif p_spec ?& '{chain,batch}' then
    below := '.batch';
    reason := 'the object also has a chain';
    hint := 'Give one of them; a chain can contain a batch, and a batch can contain a chain.';
  elsif coalesce(p_spec -> 'kind', 'null') not in ('null', to_jsonb(v_kind)) then
    below := '.kind';
    reason := case when p_spec -> 'kind' in ('"request"', '"batch"', '"chain"')
                   then format('is %s, but the object describes a %s', p_spec ->> 'kind', v_kind)
                   else 'is not request, batch or chain' end;
    hint := 'Leave it out: with "chain" it is a chain, with "batch" a batch, otherwise a request.';
  elsif jsonb_typeof(p_spec -> 'chain') <> 'array' then
    below := '.chain';
    reason := 'must be an array';
    hint := 'Like "chain": [{"url": "/first"}, {"url": "/second"}].';
  elsif p_spec -> 'chain' = '[]' then
    below := '.chain';
    reason := 'is empty';
    hint := 'Give it at least one step, or leave it out.';
  elsif jsonb_typeof(p_spec -> 'batch') = 'object' then
    select '.batch' || d.below, d.reason, d.hint into below, reason, hint
      from postrider_internal.each_defect(p_spec -> 'batch') d;
  elsif jsonb_typeof(p_spec -> 'batch') <> 'array' then
    below := '.batch';
    reason := 'must be an array, or an object with each and do';
    hint := 'Like "batch": [{"url": "/a"}, {"url": "/b"}].';
  elsif p_spec -> 'batch' = '[]' then
    below := '.batch';
    reason := 'is empty';
    hint := 'Give it at least one member, or leave it out.';
  end if;
end
$$;
comment on function postrider_internal.spec_shape(int, jsonb) is
  'what is wrong with the shape of a job in a spec, and at which path below it; nulls: valid';
