-- SPDX-License-Identifier: Apache-2.0
-- What: fetched_pages keeps a cursor as the JSON value that it is. The view pages shows the items; it is made anew by its file.
-- Why:  a cursor that goes into a JSON body has to keep its type: 7 is not "7", and some are objects.
-- Cost: a nullable column without a default, so no table is rewritten.
-- breaking: no

alter table postrider.fetched_pages add column cursor jsonb;
comment on column postrider.fetched_pages.cursor is
  'styles page, offset and cursor: the value of param for the page after, as it goes into a JSON body';

drop view if exists postrider.pages;
