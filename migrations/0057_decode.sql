-- SPDX-License-Identifier: Apache-2.0
-- What: jobs.decode.
-- Why:  a file that a server keeps compressed, with Content-Encoding: gzip, may be wanted as it is.
-- Cost: a nullable column without a default, so no table is rewritten.
-- breaking: no

alter table postrider.jobs add column decode boolean;
comment on column postrider.jobs.decode is
  'false: the body is kept as received, with its Content-Encoding; null: gzip and deflate are decoded';
