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
  'one row for each page that a job with paginate has fetched, as it came: its place from 1, how many items it had, what leads to the one after';
comment on column postrider.pages.job_id is 'the job with paginate';
comment on column postrider.pages.page is 'its place from 1';
comment on column postrider.pages.url is 'as it was called';
comment on column postrider.pages.status_code is 'of the answer';
comment on column postrider.pages.items is 'the elements that the page brought, as they stand in the result';
comment on column postrider.pages.item_count is 'how many elements these are';
comment on column postrider.pages.next is 'the cursor, page or URL of the one after, as text; null: it is the last';
comment on column postrider.pages.fetched_at is 'when it was stored';
