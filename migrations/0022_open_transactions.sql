-- SPDX-License-Identifier: Apache-2.0
-- What: pauses of lanes that wait for a lock; next_credential_tasks gets another signature.
-- Why:  a client's open transaction may hold the row of a lane whose server says 429: the pause holds at once, and the finish
--       waits for nobody. A worker makes several refreshes at once, and leaves those to others whose secrets it cannot open.
-- Cost: runs on an empty schema; nothing otherwise.

create unlogged table postrider.lane_pauses (
  lane text not null,
  until timestamptz not null,
  reason text not null
) with (autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0);
comment on table postrider.lane_pauses is
  'private: pauses that servers have asked for while somebody had locked the row of lanes; the leader puts them there';

drop function if exists postrider.next_credential_tasks(int, boolean);
