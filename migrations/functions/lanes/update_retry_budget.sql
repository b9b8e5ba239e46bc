-- SPDX-License-Identifier: Apache-2.0
-- Decides whether a lane is failing, without reading a clock or a table.
--
-- A lane fails on two conditions, which must hold for 1.5 s (three folds). It had 100 calls within about 10 s, and most
-- calls with a clear result were bad, also in each fold. So a burst whose retries succeed within one or two seconds is
-- never limited. A lane with less than 10 calls a second is not limited either, because its retries would be allowed
-- anyway.
--
-- From then on only later calls count, because the calls before included unlimited retries. Good and bad calls cover
-- about 2 s. Of each fold at most ten calls count, so that ten retries a second have weight next to the many calls that
-- failed before.
--
-- When two of three calls succeed, the lane has recovered and its row is deleted. To fail again it must meet all
-- conditions again.
create or replace function postrider_internal.update_retry_budget(
  p_old postrider_internal.failing_lanes, p_calls bigint, p_good bigint, p_bad bigint, p_now timestamptz)
returns postrider_internal.failing_lanes
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_age double precision := greatest(extract(epoch from p_now - p_old.at), 0);
  v_weight double precision := least(1, 10.0 / greatest(p_good + p_bad, 1));
begin
  if p_old.at is null or v_age >= 60 then
    p_old.calls := 0;
    p_old.good := 0;
    p_old.bad := 0;
    p_old.strained_since := null;
    p_old.failing := false;
    v_age := 0;
  end if;
  p_old.at := p_now;
  -- A product that underflows raises an error (22003). So does the smallest number times 0.5.
  p_old.good := case when p_old.good > 1e-9 then p_old.good else 0 end;
  p_old.bad := case when p_old.bad > 1e-9 then p_old.bad else 0 end;
  p_old.calls := case when p_old.calls > 1e-9 then p_old.calls else 0 end;
  p_old.calls := p_old.calls * exp(-v_age / 10) + p_calls;
  if p_old.failing then
    p_old.good := p_old.good * exp(-v_age / 2) + p_good * v_weight;
    p_old.bad := p_old.bad * exp(-v_age / 2) + p_bad * v_weight;
    p_old.failing := p_good = 0 or p_old.good < 2 * p_old.bad;
    if not p_old.failing then
      p_old.bad := 0;
    end if;
    return p_old;
  end if;
  p_old.good := p_old.good * exp(-v_age / 10) + p_good;
  p_old.bad := p_old.bad * exp(-v_age / 10) + p_bad;
  if p_old.calls < 100 or p_old.bad <= p_old.good or p_good >= greatest(p_bad, 1) then
    p_old.strained_since := null;
    return p_old;
  end if;
  p_old.strained_since := coalesce(p_old.strained_since, p_now);
  if p_bad > p_good and p_now - p_old.strained_since >= interval '1.5 s' then
    p_old.failing := true;
    p_old.strained_since := null;
    p_old.calls := 0;
    p_old.good := p_good * v_weight;
    p_old.bad := p_bad * v_weight;
  end if;
  return p_old;
end
$$;
comment on function postrider_internal.update_retry_budget(postrider_internal.failing_lanes, bigint, bigint, bigint,
                                                           timestamptz) is
  'the state of a lane (null: unknown) after these further calls, good and bad, and whether it is failing';
