-- SPDX-License-Identifier: Apache-2.0
-- What: with which version the next credential of a name begins.
-- Why:  one that was deleted and inserted again counted from 0 anew, so what was still under way for the user before passed for the next
--       one's: a late token, an answer that says logged out, secrets that a worker had just sealed.
-- Cost: one small row for each name that is inserted or deleted from now on.
-- breaking: no

create table postrider.credential_versions (
  name text primary key,
  next bigint not null                     -- more than any that a credential of this name has had
);
comment on table postrider.credential_versions is
  'private: no version of a credential is used twice, though it be deleted and inserted again; rows stay, on purpose';
