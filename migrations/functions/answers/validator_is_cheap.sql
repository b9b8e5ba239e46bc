-- SPDX-License-Identifier: Apache-2.0
-- Each level of a validator may read all levels below it once more, and each key reads each element of a list.
create or replace function postrider_internal.validator_is_cheap(p_validator jsonb) returns boolean
language sql immutable parallel safe
as $$
  select octet_length(p_validator::text) <= 1000
     and not jsonb_path_exists(p_validator, 'strict $.**{7}')
$$;
comment on function postrider_internal.validator_is_cheap(jsonb) is
  'whether a validator has at most 1,000 bytes and 7 levels, so that it reads an answer only a few times';
