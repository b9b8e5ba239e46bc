// SPDX-License-Identifier: Apache-2.0

internal import Engine

/// The counters and histograms of this worker. Their sums over all workers are the figures of the fleet.
enum CounterMetrics {
    static func append(_ counters: MetricCounters, to metrics: inout MetricsText) {
        metrics.family(
            "postrider_jobs_finished_total", .counter,
            "Requests that this worker has ended; the leader adds those that ended without a call, like cancelled ones."
        )
        for ended in counters.finishedJobs {
            metrics.sample(
                "postrider_jobs_finished_total",
                ["queue": ended.queue, "service": ended.service, "state": ended.state], Double(ended.jobs))
        }
        metrics.family(
            "postrider_attempts_total", .counter, "Attempts that this worker has stored, by how they ended.")
        for ended in counters.endedAttempts {
            metrics.sample(
                "postrider_attempts_total",
                ["service": ended.service, "lane_group": ended.laneGroup, "outcome": ended.outcome],
                Double(ended.attempts))
        }
        metrics.family(
            "postrider_call_duration_seconds", .histogram,
            "Duration of the calls of this worker, by class of status; none: no complete answer.")
        for call in counters.callDurations {
            metrics.histogram(
                "postrider_call_duration_seconds", ["service": call.service, "answer": call.answer], call.durations)
        }
        metrics.family(
            "postrider_wait_seconds", .histogram,
            "Time from due to the claim of the first attempt, of jobs that this worker has called.")
        for wait in counters.firstWaits {
            metrics.histogram("postrider_wait_seconds", ["queue": wait.queue], wait.durations)
        }
    }
}
