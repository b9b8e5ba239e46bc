// SPDX-License-Identifier: Apache-2.0

/// The rules for the database after a `JobStorm`, in any order of events.
enum JobStormRules {
    /// Queries that must return no row.
    static let queries = [
        (
            """
            select job_id::text, attempt::text, string_agg(concat_ws(' ', error_code, error), '; ' order by fence)
              from postrider.attempts
            -- A worker that stops hands calls back. They use no attempt, so the next one has the same number.
            where coalesce(error, '') not like '%; no attempt was used' and job_id not in (
              select id from postrider.jobs
              where url like '%/limited/%' or url like '%/locked/%' or url like '%/crowded/%')
            group by job_id, attempt having count(*) > 1
            """, "attempts of one number"
        ),
        (
            """
            select a.job_id::text, a.attempt::text from (
              select *, lag(attempt) over (partition by job_id order by fence) as before from postrider.attempts) a
            where a.attempt < a.before
            """, "attempt numbers fall"
        ),
        (
            """
            select a.state, a.jobs::text, b.jobs::text from (
              select state, count(*) as jobs from postrider.job_status group by state) a
            full join (
              select x.state, sum(x.jobs) as jobs from postrider.queue_status q cross join lateral (values
                ('ready', q.ready), ('scheduled', q.scheduled), ('running', q.running), ('succeeded', q.succeeded),
                ('failed', q.failed), ('cancelled', q.cancelled), ('expired', q.expired), ('skipped', q.skipped),
                ('unknown', q.unknown), ('waiting', q.waiting)) x (state, jobs)
              group by x.state having sum(x.jobs) <> 0) b using (state)
            where a.jobs is distinct from b.jobs
            """, "job_status and queue_status differ"
        ),
        (
            """
            select j.id::text, s.state, (select count(*)::text from app.log l where l.job = j.id)
            from postrider.jobs j join postrider.job_status s using (id) where j.on_success = 'note'
            and (select count(*) from app.log l where l.job = j.id) < (s.state = 'succeeded')::int
            """, "succeeded without its callback"
        ),
        (
            """
            select job_id::text, fence::text, string_agg(coalesce(error_code, 'none'), ', ') from postrider.attempts
            group by job_id, fence having count(*) > 1
            """, "attempts of one lease"
        ),
        (
            """
            select r.job_id::text, r.worker::text from postrider_internal.results r
            join postrider_internal.workers w on w.id = r.worker
            where w.lost and r.finished_at > w.ended_at and r.error_code is distinct from 'lost_worker'
            """, "a result of a lost worker"
        ),
        (
            """
            with answers as (
              select id, url, (convert_from(body, 'UTF8')::jsonb ->> 'turn')::int as turn, started_at, finished_at
              from postrider.job_status where url like '%/cached/%' and state = 'succeeded')
            select later.id::text, later.turn::text, earlier.id::text, earlier.turn::text
            from answers earlier join answers later
              on later.url = earlier.url and later.started_at > earlier.finished_at + interval '1 s'
             and later.turn < earlier.turn
            """, "an older answer than an earlier job had"
        ),
        (
            "select t.job::text from app.log t where t.state <> 'succeeded' or t.state is null",
            "a callback saw another state"
        ),
    ]
}
