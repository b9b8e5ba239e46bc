-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.cache_validators(p_call postrider_internal.cache_flights) returns text[]
language sql immutable parallel safe
as $$
  select case when p_call.etag is not null then array['if-none-match', p_call.etag] end
      || case when p_call.last_modified is not null then array['if-modified-since', p_call.last_modified] end
$$;
comment on function postrider_internal.cache_validators(postrider_internal.cache_flights) is
  'name, value, ... of the headers that revalidate a cached answer; null: it has no validator';
