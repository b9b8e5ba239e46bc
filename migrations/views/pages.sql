-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.pages as
select p.job_id, p.page, case when v.visible then p.url end as url, case when v.visible
  then p.status_code::int end as status_code,
       case when v.visible then p.items end as items, case when v.visible then p.count end as item_count,
       case when v.visible then p.next end as next, p.fetched_at
  from postrider_internal.fetched_pages p
 cross join lateral (
       select (select postrider_internal.sees_all())
              or exists (select from postrider.jobs j
                         where j.id = p.job_id and j.created_by = current_user) as visible offset 0) v
 where v.visible;
comment on view postrider.pages is
  'one row for each fetched page of a job with paginate, with its items and the reference to the next page';
comment on column postrider.pages.job_id is 'id of the job with paginate';
comment on column postrider.pages.page is 'page number from 1';
comment on column postrider.pages.url is 'URL of the call, without user and password';
comment on column postrider.pages.status_code is 'status of the answer';
comment on column postrider.pages.items is 'items of the page, as in the result';
comment on column postrider.pages.item_count is 'number of these items';
comment on column postrider.pages.next is 'cursor, page number or URL of the next page, as text; null: last page';
comment on column postrider.pages.fetched_at is 'when the page was stored';
