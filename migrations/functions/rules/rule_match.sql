-- SPDX-License-Identifier: Apache-2.0
-- The lists are, in this order, the rules of the job, of its operation and of its service. The first match decides, and
-- no list replaces another. A condition that cannot be applied to the answer does not match.
create or replace function postrider_internal.rule_match(
  p_lists jsonb[], p_status int, p_method text, p_headers jsonb, p_body jsonb, p_text text,
  out list text, out index int, out rule jsonb, out document jsonb)
language plpgsql immutable
as $$
declare
  v_holds boolean;
begin
  document := jsonb_build_object('status', p_status, 'headers', p_headers);
  if p_body is not null then
    document := document || jsonb_build_object('body', p_body);
  end if;
  if p_text is not null then
    document := document || jsonb_build_object('text', p_text);
  end if;
  for v_list in 1 .. cardinality(p_lists) loop
    continue when p_lists[v_list] is null;
    for v_at in 0 .. jsonb_array_length(p_lists[v_list]) - 1 loop
      rule := p_lists[v_list] -> v_at;
      continue when rule ? 'status' and not p_status <@ postrider_internal.rule_statuses(rule -> 'status')
        or rule ? 'methods' and not rule -> 'methods' ? upper(p_method);
      if rule ? 'if' then
        begin
          v_holds := jsonb_path_match(document, (rule ->> 'if')::jsonpath, '{}', true);
        exception when others then
          if postrider_internal.is_transient_error(sqlstate) then
            raise;
          end if;
          v_holds := false;
        end;
        continue when v_holds is not true;
      end if;
      list := (array['job', 'operation', 'service'])[v_list];
      index := v_at;
      return;
    end loop;
  end loop;
  rule := null;
end
$$;
comment on function postrider_internal.rule_match(jsonb[], int, text, jsonb, jsonb, text) is
  'the first rule that fits an answer, its list and its index from 0; nulls: none; and the answer as its paths see it';
