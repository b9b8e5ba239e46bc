-- SPDX-License-Identifier: Apache-2.0
-- What: a call for the cache keeps the key that it was made with and its worker's app version, and each cookie the login that
--       it came by.
-- Why:  an answer that arrives after somebody else has logged in, or after its service was changed, is not the one that such a
--       call would bring now: who asks next must neither be served it nor carry its cookies.
--       And who will not be served by a call's answer has no reason to wait for it.
-- Cost: the catalog alone: null columns and constant defaults. Answers that are under way just now are not stored.

alter table postrider.cache_calls add base bytea;                               -- cache_key when the call was made
alter table postrider.cache_calls add app_version text;
alter table postrider.cookies add login bigint not null default 0;              -- refreshes.login; 0: there was none
alter table postrider.refreshes add login bigint not null default 0;            -- of the last login or logout, from fences: no two have the same
alter table postrider.refreshes add login_version bigint not null default 0;    -- tokens of an earlier version are another user's
