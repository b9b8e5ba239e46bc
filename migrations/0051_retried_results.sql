-- SPDX-License-Identifier: Apache-2.0
-- What: an attempt in tries says how its job had ended by it, if a retry took that result away.
-- Why:  retry_failed must not repeat an at_most_once job whose server may have acted on an earlier attempt. Attempts that the worker
--       itself repeats never have; those that a person repeats may.
-- Cost: one null column; no rewrite.
-- breaking: no

alter table postrider.tries add column ended_as "char";
comment on column postrider.tries.ended_as is
  'state of the result that this attempt had brought, as in results, if a retry took it away; null: the attempt did not end its job';
