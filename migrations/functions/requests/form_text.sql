-- SPDX-License-Identifier: Apache-2.0
-- after: requests/form_pairs.sql, requests/url_escaped.sql
create or replace function postrider_internal.form_text(p_form jsonb) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select replace(coalesce(string_agg(
           postrider_internal.url_escaped(f.pairs[2 * n - 1]) || '='
           || case f.pairs[2 * n] when '***' then '***' else postrider_internal.url_escaped(f.pairs[2 * n]) end,
           '&' order by n), ''), '%20', '+')
    from (select postrider_internal.form_pairs(p_form) as pairs) f
   cross join generate_series(1, cardinality(f.pairs) / 2) n
$$;
comment on function postrider_internal.form_text(jsonb) is 'a form as it is sent, with *** unchanged';
