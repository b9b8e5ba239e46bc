-- SPDX-License-Identifier: Apache-2.0
-- Returns bytes, because they need not be UTF-8 or text at all (%00).
create or replace function postrider_internal.url_unescaped(p_text text) returns bytea
language plpgsql immutable strict parallel safe
as $$
declare
  v_rest text := replace(p_text, '+', ' ');
  v_bytes bytea := '';
  v_at int;
begin
  loop
    v_at := position('%' in v_rest);
    exit when v_at = 0;
    if substr(v_rest, v_at + 1, 2) ~ '^[0-9A-Fa-f]{2}$' then
      v_bytes := v_bytes || convert_to(left(v_rest, v_at - 1), 'UTF8') || decode(substr(v_rest, v_at + 1, 2), 'hex');
      v_rest := substr(v_rest, v_at + 3);
    else
      v_bytes := v_bytes || convert_to(left(v_rest, v_at), 'UTF8');
      v_rest := substr(v_rest, v_at + 1);
    end if;
  end loop;
  return v_bytes || convert_to(v_rest, 'UTF8');
end
$$;
comment on function postrider_internal.url_unescaped(text) is
  'the decoded name or value of a URL query: %XX and + replaced';
