// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The query of `FleetCheckup` on the views, which read-only roles may use as well.
enum FleetQuestion {
    enum Column: Int, PGColumn {
        case workers, leaders, pausedQueues, pausedLanes, hasCredentials, loggedOff, failingSchedules, referencingTables
        /// The queues without a worker: at most 5 of them, their number, and their ready jobs.
        case untaken, untakenQueues, untakenJobs
        /// The services whose calls stubs answer: at most 10 of them.
        case stubs
        /// The clients near a limit, and the error of the last count of clients.
        case clients, countError
        /// The time of the last restore, and the losses by the restores of the last day.
        case lastRestore, lost
        /// Whether the database differs from the stored identity, the leases, and the leases of at_most_once jobs. Null
        /// for a login that does not run jobs.
        case isRestored, leases, leasesAtMostOnce

        var sql: StaticString {
            switch self {
            case .workers:
                """
                (select count(*) from postrider.worker_status w where w.state in ('running', 'draining')) as workers
                """
            case .leaders: "(select count(*) from postrider.worker_status w where w.leader) as leaders"
            case .pausedQueues:
                """
                (select string_agg(quote_literal(s.queue), ', ' order by s.queue) from standing s where s.paused)
                  as paused_queues
                """
            case .pausedLanes: "paused_lanes"
            case .hasCredentials: "exists (select from postrider.credential_status) as has_credentials"
            case .loggedOff:
                """
                (select string_agg(quote_literal(c.name), ', ' order by c.name) from postrider.credential_status c
                  where c.state = 'logged_off') as logged_off
                """
            case .failingSchedules:
                """
                (select count(*) from postrider.schedule_status s where s.enabled and s.last_error is not null)
                  as failing_schedules
                """
            case .referencingTables:
                """
                (select string_agg(t.name::text, ', ' order by t.name::text)
                  from postrider_internal.referencing_tables() t (name)) as referencing_tables
                """
            case .untaken:
                """
                (select array_agg(
                          format('%L (%s since %s)', u.queue, u.ready, to_char(u.since, 'YYYY-MM-DD HH24:MI:SS TZ'))
                          order by u.ready desc, u.queue)
                  from (select * from untaken order by ready desc, queue limit 5) u) as untaken
                """
            case .untakenQueues: "(select count(*) from untaken) as untaken_queues"
            case .untakenJobs: "(select coalesce(sum(u.ready), 0)::bigint from untaken u) as untaken_jobs"
            case .stubs:
                """
                (select string_agg(quote_literal(s.service), ', ' order by s.service)
                  from (select distinct s.service from postrider.service_status s where s.has_stub
                        order by s.service limit 10) s) as stubs
                """
            case .clients:
                """
                (select string_agg(format('%L (%s)', c.role, c.usage), ', ' order by c.role)
                  from (select c.role, concat_ws(', ',
                                 case when c.unfinished > 0.9 * c.max_unfinished
                                   then format('%s of %s jobs', c.unfinished, c.max_unfinished) end,
                                 case when c.lanes > 0.9 * c.max_lanes
                                   then format('%s of %s lanes', c.lanes, c.max_lanes) end) as usage
                          from postrider.client_status c
                         where c.unfinished > 0.9 * c.max_unfinished or c.lanes > 0.9 * c.max_lanes
                           order by c.role limit 10) c) as clients
                """
            case .countError: "count_error"
            case .lastRestore:
                """
                (select to_char(max(r.found_at), 'YYYY-MM-DD HH24:MI:SS TZ') from postrider.restores r) as last_restore
                """
            case .lost:
                """
                (select format('%s leases lost, %s jobs unknown', sum(r.lost_leases), sum(r.unknown_jobs))
                  from postrider.restores r where r.found_at > now() - interval '1 day' having count(*) > 0) as lost
                """
            case .isRestored: "is_restored"
            case .leases: "leases"
            case .leasesAtMostOnce: "leases_at_most_once"
            }
        }
    }

    /// The query for a login that runs jobs, or for one that only reads.
    static func sql(runsJobs: Bool) -> String {
        """
        with standing as materialized (
          select q.queue, q.ready, now() - q.oldest_ready_age as since, q.paused, q.has_worker
            from postrider.queue_status q),
        untaken as (select s.queue, s.ready, s.since from standing s
                    where s.ready > 0 and not s.paused and not s.has_worker)
        select \(Column.selectList) from (\(runsJobs ? factsOfTables : factsOfViews)) f
        """
    }

    /// A login that runs jobs reads two tables instead of views: `lane_status` takes seconds if there are very many
    /// lanes, and `client_status` shows the error of the last count only to roles that see all jobs.
    private static let factsOfTables = """
        select (select count(*) from postrider.lanes l where l.paused_until = 'infinity') as paused_lanes,
          (select max(c.error) from postrider_internal.client_counting c) as count_error,
          (select (i.system_identifier, i.timeline, i.database_oid, i.workers_oid)
              is distinct from (r.system_identifier, r.timeline, r.database_oid, r.workers_oid)
             from (select * from postrider_internal.identities order by number desc limit 1) i,
               postrider_internal.current_identity() r) as is_restored,
          (select count(*) from postrider_internal.ready r where r.worker > 0) as leases,
          (select count(*) from postrider_internal.ready r where r.worker > 0 and r.at_most_once) as leases_at_most_once
        """

    private static let factsOfViews = """
        select (select count(*) from postrider.lane_status l where l.paused_until = 'infinity') as paused_lanes,
          (select max(c.count_error) from postrider.client_status c) as count_error,
          null::boolean as is_restored, null::bigint as leases, null::bigint as leases_at_most_once
        """
}
