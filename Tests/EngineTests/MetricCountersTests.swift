// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore
import Testing

@testable import Engine

/// The counters and histograms of a worker.
struct MetricCountersTests {
    private func attempt(
        _ seq: Int64, track: Int32 = 1, service: String? = nil, waited: Int64? = nil, status: Int? = nil
    ) -> FinishedAttempt {
        var outcome = status.map { CallOutcome(.response(HTTPResponse(status: $0))) }
        outcome?.timings.total = 20_000
        var attempt = FinishedAttempt(
            lease: Lease(track: track, seq: seq, fence: 1, jobID: seq, attempt: 1), verdict: .success, outcome: outcome)
        attempt.service = service
        attempt.waited = waited
        return attempt
    }

    private func finished(_ metrics: WorkerMetrics) -> [String] {
        metrics.counters.finishedJobs.map { "\($0.queue) \($0.service) \($0.state) \($0.jobs)" }
    }

    private func attempts(_ metrics: WorkerMetrics) -> [String] {
        metrics.counters.endedAttempts.map { "\($0.service) \($0.laneGroup) \($0.outcome) \($0.attempts)" }
    }

    @Test func `attempts of a track count when its name has arrived`() {
        let metrics = WorkerMetrics()
        metrics.stored(
            [attempt(1, waited: 10_000), attempt(2, service: "api"), attempt(3, track: 2)], done: [1, 2, 3],
            outcomes: "sfu")
        #expect(finished(metrics).isEmpty)
        #expect(metrics.tracksToName(now: 1).sorted() == [1, 2])
        metrics.name([1, 2], [1: .init(queue: "mail", laneGroup: "tenant:*")])
        #expect(finished(metrics) == ["mail  succeeded 1", "mail api failed 1", "other  unknown 1"])
        #expect(attempts(metrics) == [" other unknown 1", " tenant:* success 1", "api tenant:* failed 1"])
        #expect(metrics.counters.firstWaits.map { "\($0.queue) \($0.durations.count)" } == ["mail 1"])
        metrics.stored([attempt(4)], done: [4], outcomes: "s")
        #expect(finished(metrics).first == "mail  succeeded 2")
        #expect(metrics.tracksToName(now: 2).isEmpty)
    }

    @Test(arguments: [
        ("s", "success", "succeeded"), ("n", "success", nil), ("r", "retry", nil), ("p", "retry", nil),
        ("l", "retry", nil), ("o", "retry", nil), ("w", "throttled", nil), ("d", "throttled", nil),
        ("f", "failed", "failed"), ("u", "unknown", "unknown"), ("h", nil, nil), ("b", nil, nil),
    ])
    func `the letter of an end gives its outcome and the final state of the job`(
        letter: String, outcome: String?, state: String?
    ) {
        let metrics = WorkerMetrics()
        metrics.stored([attempt(1)], done: [1], outcomes: letter)
        metrics.name([1], [1: .init(queue: "q")])
        #expect(attempts(metrics) == [outcome.map { " other \($0) 1" }].compactMap { $0 })
        #expect(finished(metrics) == [state.map { "q  \($0) 1" }].compactMap { $0 })
    }

    @Test func `an attempt whose lease had ended counts as a call only`() {
        let metrics = WorkerMetrics()
        metrics.stored(
            [attempt(1, status: 200), attempt(2, status: 503), attempt(3, status: 200)], done: [3, 1], outcomes: "fs")
        metrics.name([1], [1: .init(queue: "q")])
        #expect(finished(metrics) == ["q  failed 1", "q  succeeded 1"])
        #expect(
            metrics.counters.callDurations.map { "\($0.answer) \($0.durations.count) \($0.durations.seconds)" }
                == ["2xx 2 0.04", "5xx 1 0.02"])
    }

    @Test func `calls are counted by the class of their status`() {
        let metrics = WorkerMetrics()
        let statuses = [200, 204, 299, 304, 404, 500, 599, 101, 700]
        metrics.stored(statuses.enumerated().map { attempt(Int64($0), status: $1) }, done: [], outcomes: "")
        var failed = attempt(10)
        failed.outcome = CallOutcome(.failure(CallFailure(.timeout, "no answer", sent: .maybe)))
        metrics.stored([failed], done: [], outcomes: "")
        #expect(
            metrics.counters.callDurations.map { "\($0.answer) \($0.durations.count)" }
                == ["1xx 1", "2xx 3", "3xx 1", "4xx 1", "5xx 3", "none 1"])
    }

    @Test func `labels have at most 200 values and counters at most 2000 series`() {
        let metrics = WorkerMetrics()
        for number in 0..<300 { metrics.ended(1, state: "cancelled", queue: "q\(number)", service: "s\(number)") }
        let all = metrics.counters.finishedJobs
        #expect(Set(all.map(\.queue)).count == 200)
        // The empty service has a number, too.
        #expect(Set(all.map(\.service)).count == 199)
        #expect(all.reduce(0) { $0 + $1.jobs } == 300)
        let many = WorkerMetrics()
        for queue in 0..<100 {
            for service in 0..<100 { many.ended(1, state: "expired", queue: "q\(queue)", service: "s\(service)") }
        }
        #expect(many.counters.finishedJobs.count == 2_001)
        #expect(many.counters.finishedJobs.reduce(0) { $0 + $1.jobs } == 10_000)
    }

    @Test func `tracks of another database count as other and their names are dropped`() {
        let metrics = WorkerMetrics()
        metrics.stored([attempt(1)], done: [1], outcomes: "s")
        metrics.name([1], [1: .init(queue: "q")])
        metrics.stored([attempt(2, track: 2)], done: [2], outcomes: "s")
        metrics.forgetTracks()
        #expect(finished(metrics) == ["other  succeeded 1", "q  succeeded 1"])
        metrics.stored([attempt(3)], done: [3], outcomes: "s")
        #expect(metrics.tracksToName(now: 1) == [1])
    }

    @Test func `names are asked for again after five minutes`() {
        let metrics = WorkerMetrics()
        _ = metrics.tracksToName(now: 1)
        metrics.stored([attempt(1)], done: [1], outcomes: "s")
        metrics.name([1], [1: .init(queue: "q")])
        metrics.stored([attempt(2)], done: [2], outcomes: "s")
        #expect(metrics.tracksToName(now: WorkerMetrics.nameLifetime).isEmpty)
        _ = metrics.tracksToName(now: WorkerMetrics.nameLifetime + 1)
        metrics.stored([attempt(3)], done: [3], outcomes: "s")
        #expect(metrics.tracksToName(now: WorkerMetrics.nameLifetime + 2) == [1])
    }

    @Test func `a histogram counts a duration in the first bucket that it does not exceed`() {
        var histogram = Histogram([10, 20])
        for microseconds in [-5, 0, 10, 11, 20, 21] { histogram.observe(Int64(microseconds)) }
        #expect(histogram.counts == [3, 2, 1])
        #expect(histogram.count == 6)
    }
}
