-- SPDX-License-Identifier: Apache-2.0
-- What: an entry says whether a worker has read its body as XML; functions whose arguments change go.
-- Why:  a job with response_format xml was served bodies that nobody had checked; and the ETag of where a redirect led was
--       asked about at the URL that redirects, which may lead elsewhere by then.
-- Cost: the catalog alone: the column has a constant default. No entry of before counts as checked, so the first XML job asks anew.

alter table postrider.cache_entries add is_xml boolean not null default false;  -- stored for a job with response_format xml

drop function if exists postrider.is_fit_cache_entry(int, int, int4multirange, bigint);
drop function if exists postrider.store_cache_entry(postrider.jobs, postrider.services, int, bytea, bytea, text, text);
drop function if exists postrider.end_cache_flights(
  bigint[], bigint[], bigint[], bigint[], "char"[], smallint[], bytea[], bytea[], text[], text[], text,
  int);
drop function if exists postrider.judge(
  int, int[], bigint[], bigint[], "char"[], smallint[], text[], text[], bytea[], bytea[], bigint[],
  int[], int[], int[], int[], int[], text[], text[], boolean[], bigint[], bigint[], bigint[], text, text[],
  int[], "char"[], text[], bigint[]);
