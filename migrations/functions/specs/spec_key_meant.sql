-- SPDX-License-Identifier: Apache-2.0
-- after: insert/edit_distance.sql
-- Recognizes camelCase, an s too many or too few, letters in another order, common synonyms, and one or two wrong
-- letters.
create or replace function postrider_internal.spec_key_meant(p_key text) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with keys as (
    select a.attname::text as key from pg_attribute a
     where a.attrelid = 'postrider.jobs'::regclass and a.attnum > 0 and not a.attisdropped
       and a.attname not in (
         'id', 'kind', 'each', 'created_at', 'created_by', 'operation_revision', 'operation_rules', 'argument_types'))
  select coalesce(
    (select min(k.key)
       from keys k
      where (k.key = lower(regexp_replace(p_key, '([a-z])([A-Z])', E'\\1_\\2', 'g') collate "C")
             or k.key in (p_key || 's', rtrim(p_key, 's'))
             or length(p_key) between 3 and 30
                and array(select c from string_to_table(k.key, null) c order by c)
                  = array(select c from string_to_table(p_key, null) c order by c))),
    (select m.key
       from (values ('uri', 'url'), ('href', 'url'), ('verb', 'method'), ('json', 'body_json'), ('data', 'body_json'),
               ('payload', 'body_json'), ('form', 'body_form'), ('files', 'body_parts'), ('params', 'query'),
               ('retries', 'max_attempts'), ('attempts', 'max_attempts'), ('delay', 'run_at'), ('tags', 'tag'),
               ('children', 'chain or batch'), ('steps', 'chain'), ('jobs', 'batch')) m (word, key)
      where m.word = lower(p_key collate "C")),
    (select c.key
       from (table keys union all values ('chain'), ('batch')) c
      where length(p_key) between 3 and 30 and postrider_internal.edit_distance(c.key, p_key)
        <= least(2, (length(c.key) + 1) / 3)
      order by postrider_internal.edit_distance(c.key, p_key), c.key limit 1))
$$;
comment on function postrider_internal.spec_key_meant(text) is
  'the key of a spec that an unknown key probably means; null: no guess';
