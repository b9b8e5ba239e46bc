// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The metrics of the whole fleet from the views. All workers return the same values.
enum FleetMetrics {
    private static let queues = """
        select queue, ready, scheduled, running, waiting, succeeded, failed, cancelled, expired, skipped, unknown,
               coalesce(extract(epoch from oldest_ready_age), 0)::float8, paused, has_worker
          from postrider.queue_status order by queue
        """
    private static let workers = """
        select state, count(*), coalesce(sum(concurrency), 0)::bigint, coalesce(sum(in_flight), 0)::bigint,
               coalesce(sum(judgements_waiting), 0)::bigint
          from postrider.worker_status
         where state in ('running', 'draining', 'silent')
           or (state = 'lost' and ended_at > now() - interval '10 minutes')
         group by state order by state
        """
    /// The clients with limits: at most one for each role that inserts.
    private static let clients = """
        select role, unfinished, max_unfinished, lanes, max_lanes::bigint from postrider.client_status
          order by unfinished desc, role limit 1000
        """
    /// Reads the index of failures from its end. A job without a track ended before it had one.
    static let failures = """
        select coalesce((select t.queue from postrider_internal.tracks t where t.id = r.track),
                        (select j.queue from postrider.jobs j where j.id = r.job_id)) as queue, r.error_code, count(*)
          from (select f.job_id, f.track, coalesce(f.error_code, '') as error_code
                  from postrider_internal.results f
                 where postrider_internal.is_failure(f.state) and f.finished_at >= now() - interval '5 minutes'
                 order by f.finished_at desc, f.job_id desc limit 1000) r
         group by 1, 2 order by 1, 2
        """
    /// The times of the last whole minute. No row if no job ended in it.
    private static let times = """
        select finished, failed, wait_p50_ms::float8, wait_p95_ms::float8, wait_p99_ms::float8,
               call_p50_ms::float8, call_p95_ms::float8, call_p99_ms::float8
          from postrider.throughput
         where minute >= date_trunc('minute', now()) - interval '1 minute' and minute < date_trunc('minute', now())
        """

    private static let restores =
        "select count(*), extract(epoch from max(found_at))::float8 from postrider.restores"

    /// At most 1,000 schedules, by name. If there are more, the ones whose last missed tick is the latest.
    private static let schedules = """
        select name, missed, skipped, extract(epoch from last_missed_at)::float8
          from (select s.name, s.missed, s.skipped, s.last_missed_at from postrider.schedule_status s
                 order by s.last_missed_at desc nulls last, s.name limit 1000) s
         order by name
        """

    /// The states in the order of the columns of `queues`: first `standing`, then `ended`.
    private static let standing = ["ready", "scheduled", "running", "waiting"]
    private static let ended = ["succeeded", "failed", "cancelled", "expired", "skipped", "unknown"]

    /// Reads all families of the fleet.
    static func read(_ connection: borrowing PGConnection) throws(PGError) -> MetricsText {
        var metrics = MetricsText()
        let queues = try connection.query(FleetMetrics.queues)
        write(queues: queues, to: &metrics)
        let workers = try connection.query(FleetMetrics.workers)
        write(workers: workers, to: &metrics)
        let clients = try connection.query(FleetMetrics.clients)
        write(clients: clients, to: &metrics)
        let restores = try connection.query(FleetMetrics.restores)
        metrics.single(
            "postrider_restores", .gauge, "Restores of the database that workers have found.",
            Double(restores.int64(0, 0)))
        if restores.int64(0, 0) > 0 {
            metrics.single(
                "postrider_last_restore_timestamp_seconds", .gauge, "When a worker found the last restore.",
                restores.float8(0, 1))
        }
        let failures = try connection.query(FleetMetrics.failures)
        write(failures: failures, to: &metrics)
        let schedules = try connection.query(FleetMetrics.schedules)
        write(schedules: schedules, to: &metrics)
        let times = try connection.query(FleetMetrics.times)
        write(times: times, to: &metrics)
        return metrics
    }

    private static func write(queues: borrowing PGResult, to metrics: inout MetricsText) {
        metrics.family("postrider_jobs", .gauge, "Jobs that have not ended, by queue and state.")
        for row in 0..<queues.rowCount {
            for (column, state) in standing.enumerated() {
                metrics.sample(
                    "postrider_jobs", ["queue": queues.text(row, 0), "state": state],
                    Double(queues.int64(row, column + 1)))
            }
        }
        // A gauge and not a counter, since a retry takes a job off again.
        metrics.family("postrider_jobs_ended", .gauge, "Jobs that have ended, by queue and state.")
        for row in 0..<queues.rowCount {
            for (column, state) in ended.enumerated() {
                metrics.sample(
                    "postrider_jobs_ended", ["queue": queues.text(row, 0), "state": state],
                    Double(queues.int64(row, column + 1 + standing.count)))
            }
        }
        metrics.family("postrider_oldest_ready_seconds", .gauge, "How long the oldest ready job of a queue has waited.")
        for row in 0..<queues.rowCount {
            metrics.sample("postrider_oldest_ready_seconds", ["queue": queues.text(row, 0)], queues.float8(row, 11))
        }
        metrics.family("postrider_queue_paused", .gauge, "1 while a queue is paused.")
        for row in 0..<queues.rowCount {
            metrics.sample("postrider_queue_paused", ["queue": queues.text(row, 0)], queues.bool(row, 12) ? 1 : 0)
        }
        metrics.family("postrider_queue_has_worker", .gauge, "1 while a worker takes the jobs of a queue.")
        for row in 0..<queues.rowCount {
            metrics.sample(
                "postrider_queue_has_worker", ["queue": queues.text(row, 0)], queues.bool(row, 13) ? 1 : 0)
        }
    }

    private static func write(clients: borrowing PGResult, to metrics: inout MetricsText) {
        for (column, (name, help)) in [
            ("postrider_client_unfinished_jobs", "Jobs of a client with limits that have not ended."),
            ("postrider_client_max_unfinished_jobs", "client_limits.max_unfinished of a client."),
            ("postrider_client_lanes", "Lanes in which a client with max_lanes has jobs that have not ended."),
            ("postrider_client_max_lanes", "client_limits.max_lanes of a client."),
        ].enumerated() {
            metrics.family(name, .gauge, help)
            for row in 0..<clients.rowCount where !clients.isNull(row, column + 1) {
                metrics.sample(name, ["client": clients.text(row, 0)], Double(clients.int64(row, column + 1)))
            }
        }
    }

    private static func write(failures: borrowing PGResult, to metrics: inout MetricsText) {
        metrics.family(
            "postrider_recent_failures", .gauge,
            "Jobs that failed, expired or ended unknown in the last five minutes, of the latest 1000.")
        for row in 0..<failures.rowCount where !failures.isNull(row, 0) {
            metrics.sample(
                "postrider_recent_failures", ["queue": failures.text(row, 0), "error_code": failures.text(row, 1)],
                Double(failures.int64(row, 2)))
        }
    }

    private static func write(workers: borrowing PGResult, to metrics: inout MetricsText) {
        for (column, (name, help)) in [
            ("postrider_workers", "Workers of the fleet, by state; lost: within the last ten minutes."),
            ("postrider_fleet_slots", "Calls that these workers may have in flight."),
            ("postrider_fleet_calls_in_flight", "Calls that these workers had in flight at their last heartbeat."),
            ("postrider_judgements_waiting", "Answers with expensive expressions that waited to be judged there."),
        ].enumerated() {
            metrics.family(name, .gauge, help)
            // The slots and calls of a lost worker no longer exist.
            for row in 0..<workers.rowCount where column == 0 || workers.text(row, 0) != "lost" {
                metrics.sample(name, ["state": workers.text(row, 0)], Double(workers.int64(row, column + 1)))
            }
        }
    }

    private static func write(schedules: borrowing PGResult, to metrics: inout MetricsText) {
        for (column, (name, help)) in [
            ("postrider_schedule_missed_ticks", "Ticks of a schedule that no worker made in time."),
            ("postrider_schedule_skipped_ticks", "Ticks of a schedule skipped for overlap, a dedupe_key or an error."),
        ].enumerated() {
            metrics.family(name, .gauge, help)
            for row in 0..<schedules.rowCount {
                metrics.sample(name, ["schedule": schedules.text(row, 0)], Double(schedules.int64(row, column + 1)))
            }
        }
        metrics.family(
            "postrider_schedule_last_missed_timestamp_seconds", .gauge,
            "The last tick of a schedule that made no job, missed or skipped.")
        for row in 0..<schedules.rowCount where !schedules.isNull(row, 3) {
            metrics.sample(
                "postrider_schedule_last_missed_timestamp_seconds", ["schedule": schedules.text(row, 0)],
                schedules.float8(row, 3))
        }
    }

    private static func write(times: borrowing PGResult, to metrics: inout MetricsText) {
        let hasAny = times.rowCount > 0
        metrics.single(
            "postrider_finished_jobs", .gauge, "Jobs that ended in the last whole minute.",
            hasAny ? Double(times.int64(0, 0)) : 0)
        metrics.single(
            "postrider_failed_jobs", .gauge, "Those of them that failed, expired or ended unknown.",
            hasAny ? Double(times.int64(0, 1)) : 0)
        guard hasAny else { return }
        // Each family has three columns, after `finished` and `failed`.
        for (first, (name, help)) in [
            ("postrider_wait_seconds", "From being due to the first attempt, of a sample of the last whole minute."),
            ("postrider_call_seconds", "Length of the calls that ended jobs, of a sample of the last whole minute."),
        ].enumerated() {
            metrics.family(name, .summary, help)
            for (column, quantile) in ["0.5", "0.95", "0.99"].enumerated()
            where !times.isNull(0, first * 3 + column + 2) {
                metrics.sample(name, ["quantile": quantile], times.float8(0, first * 3 + column + 2) / 1000)
            }
        }
    }
}
