-- SPDX-License-Identifier: Apache-2.0
-- spec_references checks the names in members and in each. This function checks the rest: a root request, whose
-- templates no earlier step can fill, and texts without templates. metadata and expressions belong to the user.
create or replace function postrider_internal.schedule_templates(p_nodes postrider_internal.spec_node[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- The names allowed in {{schedule.NAME}} of a root; none so far.
  v_known constant text[] := '{}';
  v_found record;
  v_reason text;
  v_hint text;
  v_path text[];
  v_parts text[];
begin
  if p_nodes::text not like '%{{%' then
    return;
  end if;
  for v_found in
    select n.place || '.' || k.key as place, s.value, k.key,
           k.key in ('url', 'query', 'headers', 'body_json', 'body_form', 'body_parts') as takes_templates,
           n.level = 1 and n.kind = 'request' as is_root
      from unnest(p_nodes) with ordinality n (level, parent, "position", place, kind, parent_kind, is_in_each, spec,
                                              each, rank)
     cross join lateral jsonb_each(n.spec) k
     cross join lateral postrider_internal.json_strings(k.value) s (value)
     where s.value like '%{{%'
       and k.key not in ('metadata', 'run_if', 'extract', 'validator', 'paginate', 'arguments')
     order by n.rank, k.key
  loop
    v_reason := null;
    if v_found.is_root and (v_found.takes_templates or v_found.key = 'body') then
      select d.reason, d.hint into v_reason, v_hint from postrider_internal.template_defect(v_found.value) d;
      v_parts := postrider_internal.template_parts(v_found.value);
      for i in 1 .. case when v_reason is null then cardinality(v_parts) else 0 end loop
        continue when i % 2 = 1;
        v_path := postrider_internal.template_path(v_parts[i]);
        if not (v_path[1] = 'schedule' and v_path[2] = any (v_known) and cardinality(v_path) = 2
                and v_found.takes_templates) then
          v_reason := format('{{%s}} names no earlier step of the spec', left(v_parts[i], 100));
          v_hint := 'Make the spec a chain, and name a step that ends before; a literal {{ is written {{{{.';
          exit;
        end if;
      end loop;
    elsif not v_found.takes_templates and exists (
            select from regexp_matches(v_found.value, E'(\\{\\{\\{\\{|\\{\\{[^{}]*\\}\\})', 'g') m (part)
              where m.part[1] <> '{{{{') then
      v_reason := 'holds a template, and is taken as it is';
      v_hint := 'Templates are allowed in url, query, headers, body_json, body_form and body_parts.'
        || case v_found.key when 'body' then E' Write a literal {{ as bytes, in the form \\x7b7b.' else '' end;
    end if;
    if v_reason is not null then
      raise exception using errcode = 'PR006', message = v_found.place || ': ' || v_reason, hint = v_hint;
    end if;
  end loop;
end
$$;
comment on function postrider_internal.schedule_templates(postrider_internal.spec_node[]) is
  'raises PR006 for a template in the spec of a schedule that cannot be filled';
