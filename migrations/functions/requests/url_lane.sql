-- SPDX-License-Identifier: Apache-2.0
-- A dot at the end of a host or zeros before a port lead to the same server, so they must not lead around its lane. To
-- compare origins use url_authority, which treats such doubtful URLs as different.
create or replace function postrider_internal.url_lane(p_url text) returns text
language sql immutable strict parallel safe
begin atomic
  select case when host like '_%.' then left(host, -1) else host end
         || coalesce(':' || port, case when lower(left(p_url, 6) collate "C") = 'https:' then ':443' else ':80' end)
  from (
    select lower(part[1] collate "C") as host, part[2] as port
    from regexp_match(p_url, E'^[A-Za-z]+://(?:[^/?#@]*@)?(\\[[^]]*\\]|[^:/?#]+)(?::0*([0-9]+))?') as part
  ) as authority;
end;
comment on function postrider_internal.url_lane(text) is
  'the lane of a job that names none: host:port of its URL in lower case, with default ports 80 and 443';
