-- SPDX-License-Identifier: Apache-2.0
-- jsonb stores 1e130000 in a few bytes and writes it out with 130,000 digits. Writing out 8 KiB of jsonb makes at most
-- 90 MB. For larger JSON this function first adds up the sizes of the numbers, from their binary form. It does not
-- write out JSON with too many digits.
--
-- Binary form of a numeric: count of digit groups, weight, sign, scale (2 bytes each), then groups of four decimal
-- digits.
create or replace function postrider_internal.json_bytes(p_json jsonb, p_most bigint) returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bytes bigint;
begin
  if pg_column_size(p_json) <= 8192 and pg_column_compression(p_json) is null then
    return octet_length(p_json::text);
  end if;
  select sum(greatest(n.weight * 4 + 1, 1) + n.scale) into v_bytes
    from (select (get_byte(b.bytes, 2) * 256 + get_byte(b.bytes, 3) + 32768) % 65536 - 32768 as weight,
                 get_byte(b.bytes, 6) * 256 + get_byte(b.bytes, 7) as scale
            from (select numeric_send(e.value::numeric) as bytes
                    from jsonb_array_elements(jsonb_path_query_array(
                           p_json, 'strict $.** ? (@.type() == "number")')) e (value)) b) n;
  if v_bytes > p_most then
    return v_bytes;
  end if;
  begin
    return octet_length(p_json::text);
  exception when program_limit_exceeded then
    -- A text value is always smaller than 1 GiB.
    return 1073741824;
  end;
end
$$;
comment on function postrider_internal.json_bytes(jsonb, bigint) is
  'how many bytes JSON has as text; above p_most it may be any larger number';
