-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.spec_hint(p_column text, p_type text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_column = 'url' then 'Write it as text, like "https://api.example.com/ping".'
    when p_column = 'priority' then 'Write a whole number from -100 to 100, without quotes.'
    when p_column = 'body' then 'Write it as text, in quotes; JSON goes into body_json.'
    when p_column = 'ok_statuses' then 'Write the ranges as one text, like "{[200,300),[404,405)}".'
    when p_column in ('extract', 'run_if') then 'Write a path as text, like "$.data.items".'
    else case p_type
      when 'interval' then 'Write it as text, like "30 s" or "5 min".'
      when 'interval[]' then 'Write an array of texts, like ["5 s", "1 min"].'
      when 'timestamp with time zone' then 'Write it as text, like "2027-01-31T12:00:00Z".'
      when 'boolean' then 'Write true or false, without quotes.'
      when 'smallint' then 'Write a whole number, without quotes.'
      when 'integer' then 'Write a whole number, without quotes.'
      when 'bigint' then 'Write a whole number, without quotes.'
      else 'Write it as text, in quotes.' end
  end
$$;
comment on function postrider_internal.spec_hint(text, text) is 'how to write a value of a column of jobs in a spec';
