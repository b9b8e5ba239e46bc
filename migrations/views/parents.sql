-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.parents as
select j.id, postrider.member_defaults(j) as defaults
  from postrider.jobs j
 where j.kind <> 'request' and (j.created_by = current_user or (select postrider.sees_all()));
comment on view postrider.parents is
  'private: the batches and chains that the reader may see, with the values that their members take from them';
comment on column postrider.parents.id is 'of the batch or chain';
comment on column postrider.parents.defaults is 'keys as in a spec';
