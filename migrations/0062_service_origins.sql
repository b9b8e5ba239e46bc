-- SPDX-License-Identifier: Apache-2.0
-- What: a service's headers, query and cookies go to its own origins only, unless apply_to_absolute is set. No credential is called none.
-- Why:  a job with an absolute URL of another origin took a key in the service's headers there. A job had no way to be sent without the
--       credential of its service.
-- Cost: an update of the services, which are few.
-- breaking: no

do $$
declare
  v_name text := (select c.name from postrider.credentials c where c.name = 'none' or c.name like 'postrider.%' limit 1);
begin
  if v_name is not null then
    raise exception using errcode = 'PR001', message = format('credentials.name: %s is kept for the product now', v_name),
      hint = 'Insert the credential by another name, let jobs and services name that one, and delete this one; then migrate again.';
  end if;
end
$$;

alter table postrider.services alter column apply_to_absolute set default false;
update postrider.services set apply_to_absolute = false
 where has_servers or num_nonnulls(base_url, cdn_url) > 0;
comment on column postrider.services.apply_to_absolute is
  'whether headers, query and cookies also go to absolute URLs of other origins than the service''s own: base_url, cdn_url, servers';
comment on column postrider.jobs.credential is
  'row of credentials to log in with; none: no login, also if the service has one; null: that of the service; a member that takes the service of its batch or chain takes this, too';
