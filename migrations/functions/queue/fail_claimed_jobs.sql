-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.fail_claimed_jobs(
  p_worker int, p_track int[], p_seq bigint[], p_fence bigint[], p_code text, p_error text[]) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  select postrider_internal.finish_unreported(p_worker, array(
    select postrider_internal.unsent_attempt(x.track, x.seq, x.fence, 'f', p_code, x.error)
      from unnest(p_track, p_seq, p_fence, p_error) as x(track, seq, fence, error)))
$$;
comment on function postrider_internal.fail_claimed_jobs(int, int[], bigint[], bigint[], text, text[]) is
  'ends claimed jobs as failed before anything is sent, with one error_code and an error sentence for each';
