-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.check_header_argument(p_place postrider_internal.argument_place,
                                                                    p_name text, p_text text) returns void
language plpgsql stable
as $$
begin
  if postrider_internal.has_control_characters(p_text) or octet_length(p_text) > 8000 then
    perform postrider_internal.raise_argument_error(
      p_place, p_name, 'holds a line break or control character, or is longer than 8000 bytes');
  end if;
end
$$;
comment on function postrider_internal.check_header_argument(postrider_internal.argument_place, text, text) is
  'raises PR001 for an argument that is no value of a header';
