-- SPDX-License-Identifier: Apache-2.0
-- A block with EXCEPTION begins a subtransaction, which takes 0.8 µs. Operations without such places do without it.
create or replace function postrider_internal.try_fill_arguments(
  p_columns jsonb, p_places postrider_internal.argument_place[], p_arguments jsonb) returns jsonb
language plpgsql stable
as $$
begin
  p_columns := postrider_internal.fill_arguments(p_columns, p_places, p_arguments, '{}', false);
  return case when coalesce(length(p_columns ->> 'tag') <= 400, true) then p_columns end;
exception when sqlstate 'PR001' then
  return null;
end
$$;
comment on function postrider_internal.try_fill_arguments(jsonb, postrider_internal.argument_place[], jsonb) is
  'fill_arguments for a job outside batches and chains; null: a value does not fit, or the tag is too long';
