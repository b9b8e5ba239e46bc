-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.try_jsonb(p_body bytea) returns jsonb
language plpgsql immutable strict parallel safe
as $$
begin
  return convert_from(p_body, 'UTF8')::jsonb;
exception when others then
  return null;
end
$$;
comment on function postrider.try_jsonb(bytea) is
  'private: a body as jsonb; null if it is not UTF-8, not JSON, or JSON that jsonb cannot hold (like \u0000)';
