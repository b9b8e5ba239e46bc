-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider_internal.parents as
select j.id, postrider_internal.member_defaults(j) as defaults
  from postrider.jobs j
 where j.kind <> 'request' and (j.created_by = current_user or (select postrider_internal.sees_all()));
comment on view postrider_internal.parents is
  'the batches and chains that the reader may see, with the values that their members inherit';
comment on column postrider_internal.parents.id is 'id of the batch or chain';
comment on column postrider_internal.parents.defaults is 'inherited values, with the keys of a spec';
