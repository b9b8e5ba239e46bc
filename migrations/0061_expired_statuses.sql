-- SPDX-License-Identifier: Apache-2.0
-- What: credentials say by which statuses an API refuses a token that has ended.
-- Why:  some answer 400, 403 or 404, so no refresh came.
-- Cost: none, the column has a constant default.
-- breaking: no

alter table postrider.credentials add column expired_statuses int4multirange not null default '{[401,402)}';
comment on column postrider.credentials.expired_statuses is
  'statuses by which the API says that the token has ended; the job is sent again with a newer one';
