-- SPDX-License-Identifier: Apache-2.0
-- Items are *, a, a-b, each with /step. A range that ends before it begins wraps around: FRI-MON, 22-4. Weekdays run
-- from 0 to 7, as in Debian's cron: Sunday is 0 and 7.
create or replace function postrider_internal.cron_field(
  p_items text[], p_low int, p_high int, p_names text[], out bits text, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_size int := p_high - p_low + 1;
  v_last int := case v_size when 7 then 7 else v_size - 1 end;
  v_item text;
  v_parts text[];
  v_from int;
  v_to int;
  v_step int;
  v_word text;
  v_value int;
  v_values int[] := '{}';
begin
  foreach v_item in array p_items loop
    v_parts := regexp_match(v_item, E'^(?:(\\*)|([a-z]{3}|[0-9]{1,4})(?:-([a-z]{3}|[0-9]{1,4}))?)(?:/([0-9]{1,9}))?$');
    if v_parts is null then
      reason := format('%s is not a value, a range or a step', quote_literal(v_item));
      return;
    end if;
    v_from := 0;
    v_to := v_last;
    for i in 2 .. 3 loop
      v_word := v_parts[i];
      continue when v_word is null;
      v_value := coalesce(array_position(p_names, v_word) - 1,
                          case when v_word ~ E'^[0-9]' then v_word::int - p_low end);
      if v_value is null or v_value not between 0 and v_last then
        reason := format('%s is not between %s and %s', v_word, p_low, v_last + p_low);
        return;
      end if;
      if i = 2 then
        v_from := v_value;
        -- A single value with a step counts up to the end of the field.
        v_to := case when v_parts[4] is null then v_value else v_last end;
      else
        v_to := v_value;
      end if;
    end loop;
    v_step := coalesce(v_parts[4]::int, 1);
    if v_step = 0 then
      reason := format('the step of %s is 0', v_item);
      hint := format('Give a step of 1 to %s.', v_size);
      return;
    elsif v_step > v_size then
      reason := format('the step of %s is longer than the field, which has %s values', v_item, v_size);
      hint := format('Give a step of 1 to %s.', v_size);
      return;
    end if;
    -- 7-2 is 0-2, from Sunday to Tuesday.
    if v_to < v_from and v_size = 7 and v_from = 7 then
      v_from := 0;
    end if;
    v_values := v_values || array(
      select g % v_size from generate_series(v_from, v_to + case when v_to < v_from then v_size else 0 end, v_step) g);
  end loop;
  select string_agg(case when g = any (v_values) then '1' else '0' end, '' order by g) into bits
    from generate_series(0, v_size - 1) g;
end
$$;
comment on function postrider_internal.cron_field(text[], int, int, text[]) is
  'the values of a cron field that its items name, one character for each, or the defect of an item';
