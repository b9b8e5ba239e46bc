-- SPDX-License-Identifier: Apache-2.0
-- Used for the message of one error. It takes quadratic time, so both words are cut at 40 characters.
create or replace function postrider_internal.edit_distance(p_first text, p_second text) returns int
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_a constant text[] := string_to_array(left(p_first, 40), null);
  v_b constant text[] := string_to_array(left(p_second, 40), null);
  v_row int[] := array(select n from generate_series(0, cardinality(v_b)) n);
  v_diagonal int;
  v_above int;
begin
  for i in 1 .. cardinality(v_a) loop
    v_diagonal := v_row[1];
    v_row[1] := i;
    for j in 1 .. cardinality(v_b) loop
      v_above := v_row[j + 1];
      v_row[j + 1] := least(v_above + 1, v_row[j] + 1, v_diagonal + (v_a[i] <> v_b[j])::int);
      v_diagonal := v_above;
    end loop;
  end loop;
  return v_row[cardinality(v_b) + 1];
end
$$;
comment on function postrider_internal.edit_distance(text, text) is
  'how many characters must be added, removed or changed to turn one word into the other';
