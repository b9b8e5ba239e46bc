-- SPDX-License-Identifier: Apache-2.0
-- What: whether an attempt of a download brought little.
-- Why:  a download that breaks off after a few bytes again and again must end.
-- Cost: a null column for tries; no rewrite.

alter table postrider.tries add column gained_little boolean;
comment on column postrider.tries.gained_little is
  'of a download that broke off: whether the attempt brought less than 64 KiB; null: the attempt used up one of max_attempts, or was no download';
