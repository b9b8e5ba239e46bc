-- SPDX-License-Identifier: Apache-2.0
-- Checks only the text, so that an invalid URL is refused early with a reason. The worker decides whether the address
-- may be called, when it connects to the real address.
create or replace function postrider_internal.url_defect(p_url text, out reason text, out hint text)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_authority text;
begin
  hint := 'Give an absolute URL like https://api.example.com/ping.';
  if p_url is null or p_url = '' then
    reason := 'is missing';
  elsif length(p_url) > 8000 then
    reason := format('is %s characters long', length(p_url));
    hint := 'At most 8000 characters; put long values into a body.';
  elsif p_url ~ E'[\\x01-\\x20\\x7f]' then
    reason := 'holds a space, line break or control character';
    hint := 'Percent-encode it: a space is %20.';
  elsif p_url ~ E'[^\\x01-\\x7f]' then
    reason := 'holds a character outside ASCII';
    hint := 'Percent-encode it; write an international host name in its xn-- form.';
  elsif strpos(p_url, chr(92)) > 0 then
    reason := 'holds a backslash';
    hint := 'Write / between segments; in a query, percent-encode it as %5C.';
  elsif not postrider_internal.url_is_absolute(p_url) then
    reason := 'has no scheme';
  elsif p_url !~* '^https?:' then
    reason := format('has the scheme %s', lower(split_part(p_url, ':', 1) collate "C"));
    hint := case when p_url ~ '^[A-Za-z0-9.-]+:[0-9]{1,5}([/?#]|$)'
      then 'Write http:// or https:// before a host and port.'
                 else 'Only http and https can be called.' end;
  elsif p_url !~ '^[A-Za-z]+://[^/]' then
    reason := 'has no host';
  else
    v_authority := substring(p_url from '^[A-Za-z]+://([^/?#]*)');
    if v_authority ~ '^:?@' then
      reason := 'has an empty user in front of its host';
      hint := 'Leave the @ out, or write a user: user:password@host.';
      return;
    elsif v_authority like '%@%@%' then
      reason := 'has more than one @ before its host';
      hint := 'Percent-encode an @ in a user or password as %40.';
      return;
    end if;
    v_authority := regexp_replace(v_authority, '^.*@', '');
    if v_authority !~ E'^([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?$' then
      reason := 'has a host that cannot be called';
      hint := 'Give a name, an IPv4 address or an IPv6 address in brackets, optionally with a port.';
    elsif length(regexp_replace(v_authority, '[.]?(:[0-9]+)?$', '')) > 253 then
      reason := 'has a host that is too long';
      hint := 'The name of a host has at most 253 characters (RFC 1035, 2.3.4).';
    elsif coalesce(nullif(substring(v_authority from ':([0-9]+)$'), ''), '1')::int not between 1 and 65535 then
      reason := 'has a port out of range';
      hint := 'A port is 1 to 65535.';
    else
      hint := null;
    end if;
  end if;
end
$$;
comment on function postrider_internal.url_defect(text) is
  'why a URL is refused, and a hint; nulls: valid; never quotes the URL';
