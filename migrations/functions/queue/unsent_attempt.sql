-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider_internal.unsent_attempt(
  p_track int, p_seq bigint, p_fence bigint, p_verdict "char", p_code text,
  p_error text) returns postrider_internal.finished_attempt
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt postrider_internal.finished_attempt;
begin
  v_attempt.track := p_track;
  v_attempt.seq := p_seq;
  v_attempt.fence := p_fence;
  v_attempt.verdict := p_verdict;
  v_attempt.code := p_code;
  v_attempt.error := p_error;
  return v_attempt;
end
$$;
comment on function postrider_internal.unsent_attempt(int, bigint, bigint, "char", text, text) is
  'an attempt for finish that ended before anything was sent';
