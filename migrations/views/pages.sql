-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.pages as
select p.job_id, p.page, p.url, p.status_code::int as status_code, p.count as items, p.next, p.fetched_at
  from postrider.fetched_pages p;
comment on view postrider.pages is
  'public: one row for each page that a job with paginate has fetched, as it came: its place from 1, how many items it had, what leads to the one after';
