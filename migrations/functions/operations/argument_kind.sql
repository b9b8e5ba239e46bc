-- SPDX-License-Identifier: Apache-2.0
-- Steps over members of chains and batches to the column. Columns that are not listed take no arguments: they decide
-- where a secret or a file goes, or they are expressions.
create or replace function postrider_internal.argument_kind(p_path text[]) returns "char"
language plpgsql immutable parallel safe
as $$
declare
  v_place int := 1;
begin
  while p_path[v_place] in ('chain', 'batch') loop
    if p_path[v_place] = 'batch' and p_path[v_place + 1] = 'each' then
      return 'j';
    end if;
    v_place := v_place + 2;
  end loop;
  return case
    when p_path[v_place] = 'url' then 'u'
    when p_path[v_place] = 'query' then 'q'
    when p_path[v_place] = 'headers' then 'h'
    when p_path[v_place] = 'body_json' then 'j'
    when p_path[v_place] = 'body_form' then 'f'
    when p_path[v_place] = 'body_parts' and p_path[v_place + 2] in ('content', 'base64', 'filename', 'type') then 'p'
    when p_path[v_place] = 'arguments' then 'a'
    when p_path[v_place] in ('tag', 'dedupe_key', 'lane', 'cache_sensitive') then 'x'
    when p_path[v_place] = 'metadata' then 'd' end;
end
$$;
comment on function postrider_internal.argument_kind(text[]) is
  'how an argument is written at a path of a spec, see argument_place; null: no argument may stand there';
