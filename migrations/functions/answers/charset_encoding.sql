-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL knows most IANA names as aliases. Where the web means a superset, the superset is used: GB2312 is GBK in
-- practice, KS C 5601 is UHC.
create or replace function postrider_internal.charset_encoding(p_charset text) returns text
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_charset in ('utf-8', 'utf8', 'us-ascii', 'ascii', 'unicode-1-1-utf-8') then 'UTF8'
    when p_charset in ('utf-16', 'utf-16le', 'utf-16be') then 'UTF16'
    when p_charset in ('iso-8859-1', 'iso_8859-1', 'latin-1', 'l1', 'cp819') then 'LATIN1'
    when p_charset in ('gb2312', 'gb_2312-80', 'cp936', 'x-gbk', 'euc-cn') then 'GBK'
    when p_charset in ('ks_c_5601-1987', 'cp949', 'ksc5601', 'euc-kr') then 'UHC'
    when p_charset in ('x-sjis', 'windows-31j', 'cp932', 'ms_kanji', 'csshiftjis') then 'SJIS'
    when p_charset in ('x-euc-jp') then 'EUC_JP'
    when p_charset in ('big5-hkscs', 'cp950', 'x-x-big5') then 'BIG5'
    when p_charset ~ '^cp125[0-8]$' then 'WIN' || right(p_charset, 4)
    when p_charset ~ '^x-cp125[0-8]$' then 'WIN' || right(p_charset, 4)
    when p_charset in ('cp866', 'ibm866') then 'WIN866'
    -- Names of PostgreSQL encodings that are not charsets of the web.
    when p_charset ~ 'sql|mule' then null
    when pg_char_to_encoding(p_charset) >= 0 then pg_encoding_to_char(pg_char_to_encoding(p_charset))::text
  end;
end
$$;
comment on function postrider_internal.charset_encoding(text) is
  'the PostgreSQL encoding of a lower-case charset name; UTF16 for UTF-16, which PostgreSQL lacks; null: unknown';
