-- SPDX-License-Identifier: Apache-2.0
create or replace view postrider.client_status as
select r.role, coalesce(u.unfinished, 0) as unfinished, l.max_unfinished,
       case when l.max_lanes is not null then coalesce(u.lanes, 0) end as lanes,
       l.max_lanes, l.min_priority, l.max_priority, l.max_timeout, l.max_request_body, l.may_download,
       l.role = '*' as is_default, c.recounted_at is not null as is_counted,
       case when (select postrider_internal.sees_all()) then c.error end as count_error
  from (select u.role from postrider_internal.client_usage u
        union
        select l.role from postrider.client_limits l where l.role <> '*'
        union
        select current_user) r
 cross join lateral (
       select x.* from postrider.client_limits x where x.role in (r.role, '*') order by x.role = '*' limit 1) l
  left join lateral (
       select greatest(x.unfinished, x.recounted, 0) as unfinished, greatest(x.lanes, x.recounted_lanes, 0) as lanes
         from postrider_internal.client_usage x where x.role = r.role) u on true
 cross join postrider_internal.client_counting c
 where not postrider_internal.is_exempt_client(r.role)
   and (r.role = current_user or (select postrider_internal.sees_all()));
comment on view postrider.client_status is
  'one row for each client with limits: unfinished requests, at most a second old, and limits; a client sees only '
  'itself';
comment on column postrider.client_status.role is 'role that inserts';
comment on column postrider.client_status.unfinished is 'unfinished requests of the role';
comment on column postrider.client_status.max_unfinished is
  'most unfinished requests; null: no limit, here and in the columns below';
comment on column postrider.client_status.lanes is 'lanes with unfinished requests; counted only with max_lanes';
comment on column postrider.client_status.max_lanes is 'most lanes with unfinished requests';
comment on column postrider.client_status.min_priority is 'lowest allowed priority';
comment on column postrider.client_status.max_priority is 'highest allowed priority';
comment on column postrider.client_status.max_timeout is 'longest allowed timeout of an attempt';
comment on column postrider.client_status.max_request_body is 'largest request body in bytes as sent';
comment on column postrider.client_status.may_download is 'false: jobs with download_to are refused';
comment on column postrider.client_status.is_default is 'true: the limits come from the row *';
comment on column postrider.client_status.is_counted is
  'true: all jobs have been counted since the set of limited clients changed';
comment on column postrider.client_status.count_error is
  'error of the last count, for roles that see all jobs; null: success; the count repeats after 10 s';
