-- SPDX-License-Identifier: Apache-2.0
-- What: a gate that tells whether anything may hold back a claim: a limit, a pause, a hook.
-- Why:  the claim of one announced job looked for them in five tables, a tenth of its time in a session that has been idle.
-- Cost: none; the leader shuts the gate within a second where nothing holds back.

-- A sequence for the reasons of idle_gate. Open until the leader has looked.
create sequence postrider.hold_gate minvalue 1 maxvalue 2 start 2;
comment on sequence postrider.hold_gate is
  'private: 1 while there is no limit, pause or hook that a claim must heed, else 2; opened before such a row commits, shut by the leader';
