-- SPDX-License-Identifier: Apache-2.0
-- after: credentials/fitting_place.sql
-- The planner inlines this function. Most credentials have no list of places, so most jobs call no function.
create or replace function postrider_internal.used_place(p_place jsonb, p_body_json jsonb,
                                                         p_has_form boolean) returns jsonb
language sql immutable parallel safe
begin atomic
  select case when jsonb_typeof(p_place) = 'array'
    then postrider_internal.fitting_place(p_place, p_body_json, p_has_form)
    else p_place end;
end;
comment on function postrider_internal.used_place(jsonb, jsonb, boolean) is
  'the place of the token in a call with this body, from credentials.place; {}: none fits';
