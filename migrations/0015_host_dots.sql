-- SPDX-License-Identifier: Apache-2.0
-- What: http://h./ and http://h:080/ go by the lane of http://h/. Ready jobs that have lanes of their own for it move there.
-- Why:  it is the same server, and a limit or a pause that one way of writing it escapes is none.
-- Cost: writes tracks anew, one row for each lane in use; looks at the ready jobs of such lanes only.

alter table postrider.tracks drop column is_plain;
-- A URL with this host and port, or this host and the port of its scheme, has a good host and this lane (see queue_new_jobs).
alter table postrider.tracks add column is_plain boolean not null generated always as
  (lane ~ '^[a-z0-9.-]*[a-z0-9-]:([1-9][0-9]{0,3}|[1-5][0-9]{4})$') stored;

-- A job at its first place is looked up by the lane of its URL. The leader finds it its track; what runs ends where it is.
update postrider.ready r set track = 0
  from postrider.tracks t
 where t.lane ~ '([.]:[0-9]+|:0[0-9]+)$'
   and r.track = t.id and r.worker = 0 and r.seq = r.job_id
   and exists (select from postrider.jobs j where j.id = r.job_id and j.lane is null and j.service is null);
update postrider.intake i set lane = regexp_replace(i.lane, '([^.])[.]?:0*([0-9]+)$', E'\\1:\\2')
 where i.lane ~ '([.]:[0-9]+|:0[0-9]+)$'
   and exists (select from postrider.jobs j where j.id = i.first_id and j.lane is null and j.service is null);
