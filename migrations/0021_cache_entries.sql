-- SPDX-License-Identifier: Apache-2.0
-- What: an entry says whether a worker has read its body as XML; functions whose arguments change go.
-- Why:  a job with response_format xml was served bodies that nobody had checked.
-- Cost: the catalog alone: the column has a constant default. No entry of before counts as checked, so the first XML job asks anew.

alter table postrider.cache_entries add is_xml boolean not null default false;  -- stored for a job with response_format xml

drop function if exists postrider.cache_suits(int, int, int4multirange, bigint);
