-- SPDX-License-Identifier: Apache-2.0
-- What: a track knows when it was made.
-- Why:  the first jobs of a track wait for it in track 0. While some still do, those that come after them wait behind them there.
-- Cost: none, the tracks that are there count as old.
-- breaking: no

alter table postrider.tracks add column made_at timestamptz not null default '-infinity';
alter table postrider.tracks alter column made_at set default clock_timestamp();
comment on column postrider.tracks.made_at is 'for a second from then on an INSERT looks whether others still wait for it';
