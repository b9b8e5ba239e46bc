-- SPDX-License-Identifier: Apache-2.0
-- RFC 8288, 3: several links in one header and several headers are possible. The first rel of a link counts and may
-- hold several words. A link with an anchor is about another resource. Quoted texts are skipped as a whole, so neither
-- a comma nor `rel=next` inside misleads. Some servers use single quotes, which are ordinary characters of a token
-- there.
create or replace function postrider_internal.link_next(p_headers bytea) returns text
language plpgsql immutable strict parallel safe
as $$
declare
  v_line text;
  v_link text[];
  v_part text[];
  v_rel text;
  v_is_anchored boolean;
begin
  for v_line in
    select (regexp_matches(postrider_internal.header_text(p_headers), '^link:(.*)$', 'gin'))[1]
  loop
    for v_link in
      select regexp_matches(
               v_line, E'<([^>]*)>((?:\\s*;\\s*[^\\s=;,"]+(?:\\s*=\\s*(?:"(?:[^"\\\\]|\\\\.)*"|''[^''"<>]*''|[^\\s",;]*))?)*)', 'g')
    loop
      v_rel := null;
      v_is_anchored := false;
      for v_part in
        select regexp_matches(v_link[2],
                              E';\\s*([^\\s=;,"]+)(?:\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|(''[^''"<>]*''|[^\\s",;]*)))?',
                              'g')
      loop
        if lower(v_part[1] collate "C") = 'rel' then
          v_rel := coalesce(v_rel, v_part[2], regexp_replace(v_part[3], '^''(.*)''$', E'\\1'), '');
        elsif lower(v_part[1] collate "C") = 'anchor' then
          v_is_anchored := true;
        end if;
      end loop;
      if not v_is_anchored and v_rel ~* E'(^|\\s)next(\\s|$)' then
        return v_link[1];
      end if;
    end loop;
  end loop;
  return null;
end
$$;
comment on function postrider_internal.link_next(bytea) is
  'the reference of an answer''s Link header with rel="next"; null: none';
