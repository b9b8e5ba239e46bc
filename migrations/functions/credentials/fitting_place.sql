-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.fitting_place(p_places jsonb, p_body_json jsonb,
                                                            p_has_form boolean) returns jsonb
language sql immutable parallel safe
begin atomic
  select coalesce(
    (select e.value
       from jsonb_array_elements(p_places) with ordinality as e(value, rank)
      where case when e.value ? 'json' then jsonb_typeof(p_body_json) = 'object' when e.value ? 'form' then p_has_form
        else true end
      order by e.rank limit 1),
    '{}');
end;
comment on function postrider_internal.fitting_place(jsonb, jsonb, boolean) is
  'the first of several places that fits a call with this body; {}: none fits';
