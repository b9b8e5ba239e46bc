-- SPDX-License-Identifier: Apache-2.0
-- What: the secret behind tickets, which show functions of the owner that their caller may see a job.
-- Why:  a function that runs as the owner cannot tell who called it: current_user is the owner, and session_user and the setting role
--       are somebody else as soon as a function of the application runs as its own owner.
-- Cost: a table of one row. Roles, owners and grants are set at the end of each migration, by set_up_roles.

create table postrider.ticket_key (
  only_row boolean primary key default true check (only_row),
  secret bytea not null default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
);
insert into postrider.ticket_key default values;
comment on table postrider.ticket_key is 'private: one row, which nobody but the owner may read: the secret of this database''s tickets';
