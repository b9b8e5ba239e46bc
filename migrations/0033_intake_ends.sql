-- SPDX-License-Identifier: Apache-2.0
-- What: a list of intake tells when its jobs expire and whether something follows their end.
-- Why:  such jobs had no place in a list, so they went past the lists that waited, in front of jobs that came before them.
-- Cost: none, the columns have defaults.
-- breaking: no

alter table postrider.intake add column expires_at timestamptz, add column is_followed boolean not null default false;
comment on column postrider.intake.expires_at is 'null: never';
comment on column postrider.intake.is_followed is 'callbacks, hooks, notices or webhooks follow the end of its jobs';
