-- SPDX-License-Identifier: Apache-2.0
-- What: error_codes says of expired and file what holds of them.
-- Why:  a job that was sent before expires_at ends otherwise, and some failures with code file are tried again.
-- Cost: two rows.

update postrider.error_codes set meaning = 'not started before expires_at' where code = 'expired';
update postrider.error_codes
   set meaning = 'a file could not be read or written; tried again where time may mend it: a full or failing disk, a path in use'
 where code = 'file';
