-- SPDX-License-Identifier: Apache-2.0
create or replace function postrider.judge_answer(
  p_job postrider.jobs, p_service postrider.services, p_status int, p_headers bytea, p_body bytea,
  out verdict "char", out code text, out error text, out result jsonb, out encoding text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  verdict := 's';
end
$$;
comment on function postrider.judge_answer(postrider.jobs, postrider.services, int, bytea, bytea) is
  'private: whether an answer is what its job and service ask for, and what is taken out of it';
