-- SPDX-License-Identifier: Apache-2.0
-- Few names in a URL are percent-encoded or have a + for a space. Only those are decoded.
create or replace function postrider_internal.query_without_url_names(p_query jsonb, p_url text) returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  v_argument text;
  v_name bytea;
begin
  foreach v_argument in array string_to_array(coalesce(substring(p_url from E'\\?([^#]*)'), ''), '&') loop
    v_argument := split_part(v_argument, '=', 1);
    p_query := p_query - v_argument;
    if translate(v_argument, '%+', '') <> v_argument then
      v_name := postrider_internal.url_unescaped(v_argument);
      p_query := p_query - array(select k from jsonb_object_keys(p_query) k where convert_to(k, 'UTF8') = v_name);
    end if;
  end loop;
  return p_query;
end
$$;
comment on function postrider_internal.query_without_url_names(jsonb, text) is
  'the arguments of a service that the URL of a job does not set itself';
