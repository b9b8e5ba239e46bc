-- SPDX-License-Identifier: Apache-2.0
-- What: a track knows whether it was made for jobs that waited for it.
-- Why:  while a large INSERT with many lanes is fed, the newest tracks are its own. A survey looks at the newest of the others first.
-- Cost: none, the column has a constant default; one more index on tracks.
-- breaking: no

alter table postrider.tracks add column is_awaited boolean not null default true;
comment on column postrider.tracks.is_awaited is 'false: made for lists of many lanes, which are fed at the speed of the workers';
create index tracks_awaited on postrider.tracks (id) where is_awaited;
