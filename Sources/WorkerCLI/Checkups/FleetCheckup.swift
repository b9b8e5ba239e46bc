// SPDX-License-Identifier: Apache-2.0

internal import PGClient
internal import SecretSealing

/// The findings of `worker doctor` in the schema: the workers, and conditions that need an operator.
enum FleetCheckup {
    /// The query on the views, which read-only roles may use as well. A login that runs jobs reads two tables instead:
    /// `lane_status` takes seconds if there are very many lanes, and `client_status` shows the error of the last count
    /// only to roles that see all jobs.
    ///
    /// The columns: 0 running workers, 1 leaders, 2 paused queues, 3 lanes paused until resumed, 4 whether credentials
    /// exist, 5 logged-off credentials, 6 failing schedules, 7 tables with foreign keys onto jobs. 8 to 10: queues
    /// without a worker (at most 5 of them), their number, their ready jobs. 11 clients near a limit, 12 last restore,
    /// 13 restores of the last day, 14 error of the last count of clients. The rest is `identity`.
    private static func question(runsJobs: Bool) -> String {
        """
        with standing as materialized (
          select q.queue, q.ready, now() - q.oldest_ready_age as since, q.paused, q.has_worker
            from postrider.queue_status q),
        untaken as (select s.queue, s.ready, s.since from standing s
                    where s.ready > 0 and not s.paused and not s.has_worker)
        select (select count(*) from postrider.worker_status w where w.state in ('running', 'draining')),
          (select count(*) from postrider.worker_status w where w.leader),
          (select string_agg(quote_literal(s.queue), ', ' order by s.queue) from standing s where s.paused),
          (select count(*) from postrider.\(runsJobs ? "lanes" : "lane_status") l where l.paused_until = 'infinity'),
          exists (select from postrider.credential_status),
          (select string_agg(quote_literal(c.name), ', ' order by c.name) from postrider.credential_status c
           where c.state = 'logged_off'),
          (select count(*) from postrider.schedule_status s where s.enabled and s.last_error is not null),
          (select string_agg(t.name::text, ', ' order by t.name::text)
           from postrider_internal.referencing_tables() t (name)),
          (select array_agg(format('%L (%s since %s)', u.queue, u.ready, to_char(u.since, 'YYYY-MM-DD HH24:MI:SS TZ'))
                              order by u.ready desc, u.queue)
             from (select * from untaken order by ready desc, queue limit 5) u),
          (select count(*) from untaken), (select coalesce(sum(u.ready), 0)::bigint from untaken u),
          (select string_agg(format('%L (%s)', c.role, c.usage), ', ' order by c.role)
             from (select c.role, concat_ws(', ',
                            case when c.unfinished > 0.9 * c.max_unfinished
                              then format('%s of %s jobs', c.unfinished, c.max_unfinished) end,
                            case when c.lanes > 0.9 * c.max_lanes
                              then format('%s of %s lanes', c.lanes, c.max_lanes) end) as usage
                     from postrider.client_status c
                    where c.unfinished > 0.9 * c.max_unfinished or c.lanes > 0.9 * c.max_lanes
                      order by c.role limit 10) c),
          (select to_char(max(r.found_at), 'YYYY-MM-DD HH24:MI:SS TZ') from postrider.restores r),
          (select format('%s leases lost, %s jobs unknown', sum(r.lost_leases), sum(r.unknown_jobs))
             from postrider.restores r where r.found_at > now() - interval '1 day' having count(*) > 0),
          (select max(\(runsJobs ? "c.error) from postrider_internal.client_counting c" : "c.count_error) from postrider.client_status c"))\
        \(runsJobs ? identity : "")
        """
    }

    /// Columns 15 to 17: whether the database differs from the stored identity, the leases, the leases of at_most_once
    /// jobs.
    private static let identity = """
        , (select (i.system_identifier, i.timeline, i.database_oid, i.workers_oid)
              is distinct from (r.system_identifier, r.timeline, r.database_oid, r.workers_oid)
             from (select * from postrider_internal.identities order by number desc limit 1) i,
               postrider_internal.current_identity() r),
          (select count(*) from postrider_internal.ready r where r.worker > 0),
          (select count(*) from postrider_internal.ready r where r.worker > 0 and r.at_most_once)
        """

    /// All findings, including whether a worker with these flags could send secrets and sign webhooks.
    static func findings(
        _ connection: borrowing PGConnection, _ configuration: RunConfiguration
    ) throws(PGError) -> [Finding] {
        let answer = try connection.query(question(runsJobs: true))
        var findings = findings(answer)
        findings.append(restore(answer))
        if answer.bool(0, 4) { findings.append(try secrets(connection, configuration.secretKeys)) }
        if let webhooks = try WebhookCheckup.finding(connection, keys: configuration.webhookKeys) {
            findings.append(webhooks)
        }
        return findings
    }

    /// The findings for a login that does not run jobs: the views show no others.
    static func findings(_ connection: borrowing PGConnection) throws(PGError) -> [Finding] {
        findings(try connection.query(question(runsJobs: false)))
    }

    /// The findings about workers, queues, clients, restores, lanes, credentials, schedules and foreign keys.
    private static func findings(_ answer: borrowing PGResult) -> [Finding] {
        let workers = answer.int64(0, 0)
        var findings = [
            workers == 0
                ? Finding(.notice, "workers", "none is running: no job is called; start one with: worker run")
                : answer.int64(0, 1) == 0
                    ? Finding(
                        .notice, "workers",
                        "\(workers) running, none leads: wait 10 s and look again, then at their logs")
                    : Finding(.ok, "workers", "\(workers) running, one of them leads")
        ]
        if let queues = answer.optionalText(0, 2) {
            findings.append(
                Finding(.notice, "queues", "paused: \(queues); worker queue resume NAME lets them run again"))
        }
        if workers > 0, let untaken = untaken(answer) { findings.append(untaken) }
        if let clients = answer.optionalText(0, 11) {
            findings.append(
                Finding(
                    .notice, "clients",
                    "above 90 % of a limit: \(clients); see postrider.client_status, raise it in postrider.client_limits"
                ))
        }
        if let error = answer.optionalText(0, 14) {
            findings.append(
                Finding(
                    .fault, "clients",
                    "their jobs cannot be counted, so limits use an old count; the leader tries again every 10 s: \(error)"
                ))
        }
        if let last = answer.optionalText(0, 12), let lost = answer.optionalText(0, 13) {
            findings.append(
                Finding(
                    .notice, "restores",
                    "of the last day: \(lost); the last was found at \(last); see postrider.restores and docs/operating.md"
                ))
        }
        let lanes = answer.int64(0, 3)
        if lanes > 0 {
            findings.append(
                Finding(
                    .notice, "lanes",
                    "\(lanes) paused until resumed; see postrider.lane_status, worker lane resume NAME"))
        }
        if let names = answer.optionalText(0, 5) {
            findings.append(
                Finding(.notice, "credentials", "logged off: \(names); log in with: worker credential set NAME"))
        }
        let schedules = answer.int64(0, 6)
        if schedules > 0 {
            findings.append(
                Finding(
                    .notice, "schedules",
                    "\(schedules) cannot make their jobs; see last_error in postrider.schedule_status"))
        }
        if let tables = answer.optionalText(0, 7) {
            findings.append(
                Finding(
                    .notice, "retention",
                    "foreign keys onto postrider.jobs (\(tables)): old jobs are deleted row by row, no range is dropped; see docs/retention.md"
                ))
        }
        return findings
    }

    /// Whether the next worker that starts will detect a restore.
    private static func restore(_ answer: borrowing PGResult) -> Finding {
        if answer.bool(0, 15) {
            return Finding(
                .notice, "identity",
                "restored: the first worker ends \(answer.int64(0, 16)) leases, \(answer.int64(0, 17)) of at_most_once jobs as unknown; see docs/operating.md"
            )
        }
        let last = answer.optionalText(0, 12).map { "; last restore found at \($0)" } ?? ""
        return Finding(.ok, "identity", "the database that is stored in it\(last)")
    }

    /// The finding about ready jobs in queues that no running worker takes. Nil without such jobs.
    private static func untaken(_ answer: borrowing PGResult) -> Finding? {
        let queues = answer.int64(0, 9)
        guard queues > 0 else { return nil }
        let named = answer.texts(0, 8)
        let more = queues - Int64(named.count)
        return Finding(
            .notice, "ready jobs",
            "\(answer.int64(0, 10)) in queues that no running worker takes: " + named.joined(separator: ", ")
                + (more > 0 ? " and \(more) more" : "")
                + "; start a worker with --queue NAME, or: select postrider.cancel_all(queue => 'NAME')")
    }

    /// The finding about the keys: whether they open the sealed secrets of at most 1,000 credentials.
    private static func secrets(
        _ connection: borrowing PGConnection, _ keys: SecretKeys?
    ) throws(PGError) -> Finding {
        guard let keys else {
            return Finding(
                .notice, "secrets",
                "there are credentials, and no key here to open their secrets; set POSTRIDER_SECRET_KEY as on the other workers"
            )
        }
        let sealed = try connection.query(
            "select s.credential, s.sealed from postrider_internal.secrets s where s.sealed is not null order by 1 limit 1000"
        )
        let unopened = (0..<sealed.rowCount).filter { keys.open(sealed.bytes($0, 1), for: sealed.text($0, 0)) == nil }
        guard let first = unopened.first else { return Finding(.ok, "secrets", "there is a key for the credentials") }
        return Finding(
            .fault, "secrets",
            "no key here opens the secrets of \(unopened.count) of \(sealed.rowCount) credentials, like "
                + "\(quoted(sealed.text(first, 0))); give the key that sealed them behind the newest, in POSTRIDER_SECRET_KEY"
        )
    }
}
