-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.url_authority(p_url text) returns text
language sql immutable strict parallel safe
begin atomic
  select host || coalesce(':' || port, case when lower(left(p_url, 6) collate "C") = 'https:' then ':443'
                          else ':80' end)
  from (
    select lower(part[1] collate "C") as host, part[2] as port
    from regexp_match(p_url, E'^[A-Za-z]+://(?:[^/?#@]*@)?(\\[[^]]*\\]|[^:/?#]+)(?::([0-9]+))?') as part
  ) as authority;
end;
comment on function postrider_internal.url_authority(text) is
  'host:port of a URL in lower case, with default ports 80 and 443';
