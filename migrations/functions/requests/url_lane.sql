-- SPDX-License-Identifier: Apache-2.0
-- The dot that ends a host and zeros before a port lead to the same server, so they are no way around its lane. Who
-- asks whether two URLs are of one origin asks url_place: there a doubt is a no.
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
  'the lane of a job that names none, host:port of its URL in lower case; 80 and 443 are filled in';
