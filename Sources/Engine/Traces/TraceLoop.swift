// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import PGClient
internal import Reactor

/// Writes spans: of the attempts that end here, and of jobs, batches and chains by asking the database for their ends.
///
/// A span never delays a call: it goes into a bounded queue, and one request at a time brings a batch to the collector.
/// Without a collector nothing here runs.
final class TraceLoop {
    private let shared: SharedState
    private let duties: DutySession
    private let registration: Registration
    private let export: SpanExport?
    private var queue = SpanQueue()
    private var questions = SpanQuestions()
    /// The dropped spans that the log knows of.
    private var reported = 0
    private var reason = "the queue is full"
    /// Until when a worker that ends waits for its last spans; nil: it goes on.
    private var lastMoment: UInt64?

    /// The longest wait for the last spans: 3 s.
    private static let lastWait: UInt64 = 3_000_000_000

    /// A loop without spans.
    init(_ shared: SharedState, _ duties: DutySession, _ registration: Registration) {
        self.shared = shared
        self.duties = duties
        self.registration = registration
        export = shared.configuration.traces == .off ? nil : shared.configuration.spanExport
    }

    private var now: UInt64 { shared.now }
    private var tracesAll: Bool { shared.configuration.traces == .always }

    // MARK: spans

    /// Writes the span of an attempt whose call has ended, and asks for the end of its job.
    func callEnded(slot: Int, _ outcome: CallOutcome) {
        guard export != nil, let (trace, claimedAt) = shared.dispatcher.slots.trace(in: slot),
            trace.context.isSampled, let job = shared.dispatcher.slots.job(in: slot)
        else { return }
        let end = WallClock.now
        let error = TraceSpan.error(of: outcome, job)
        if queue.hasRoom() {
            let start = end - min(end, UInt64(max(0, outcome.timings.total)) &* 1000)
            put(TraceSpan.attempt(trace, job, outcome, error: error, start: start, end: end))
        }
        guard error == nil, job.followUp.isEmpty, !job.isJudged, !job.checksXML else {
            return ask(job.lease.jobID, fence: job.lease.fence)
        }
        // Nothing can follow, so this attempt has ended its job. The question would cost as much as the job itself.
        guard queue.hasRoom() else { return }
        var status: Int?
        if case .response(let response) = outcome.ending { status = response.status }
        let waited = UInt64(clamping: job.waited ?? 0) &* 1000
        let start = end - min(end, now - min(now, claimedAt) &+ waited)
        var labels = trace.labels
        if labels.queue == nil, shared.configuration.queues.count == 1 { labels.queue = shared.configuration.queues[0] }
        let ended = EndedJob(
            id: job.lease.jobID, labels: labels, start: Int64(clamping: start / 1000),
            end: Int64(clamping: end / 1000), attempts: Int(job.lease.attempt), status: status)
        put(TraceSpan.job(ended, context: trace.context, id: trace.job, parent: trace.context.span))
    }

    /// Writes the span of a call that is about to be aborted, because its job was cancelled.
    func callAborted(_ id: Int64, fence: Int64) {
        guard export != nil, let slot = shared.dispatcher.slots.slot(jobID: id, fence: fence) else { return }
        callCutOff(slot: slot, .cancelled)
    }

    /// Writes the span of a call that this worker is about to cut off.
    func callCutOff(slot: Int, _ code: ErrorCode) {
        guard export != nil, let (trace, claimedAt) = shared.dispatcher.slots.trace(in: slot),
            trace.context.isSampled, let job = shared.dispatcher.slots.job(in: slot)
        else { return }
        if queue.hasRoom() {
            let end = WallClock.now
            let start = end - min(end, now - min(now, claimedAt))
            put(TraceSpan.attempt(trace, job, nil, error: code.rawValue, start: start, end: end))
        }
        ask(job.lease.jobID, fence: job.lease.fence)
    }

    /// Asks for the end of a job that this worker is about to end without a call.
    func callRefused(slot: Int) {
        guard export != nil, let (trace, _) = shared.dispatcher.slots.trace(in: slot), trace.context.isSampled,
            let job = shared.dispatcher.slots.job(in: slot)
        else { return }
        ask(job.lease.jobID, fence: job.lease.fence)
    }

    private func put(_ span: [UInt8]) { queue.add(span, now: now) }

    private func ask(_ job: Int64, fence: Int64) {
        if !questions.ask(job, fence: fence, now: now) { queue.drop(1) }
    }

    /// Asks for the ends of jobs, if it is time.
    func sendQuestion() {
        guard export != nil, !duties.awaits(.takeEndedSpans), let (jobs, fences) = questions.next(now: now) else {
            return
        }
        StoreCalls.takeEndedSpans(jobs: jobs, fences: fences, tracesAll: tracesAll, into: &shared.parameters)
        duties.send(.takeEndedSpans, StoreStatement.takeEndedSpans)
    }

    /// Writes the spans of jobs that have ended, and asks for the batches and chains above them.
    func answered(_ result: borrowing PGResult) {
        guard let prefixes = registration.prefixes else { return }
        for job in StoreCalls.endedJobs(result) {
            questions.ended(job.id, fence: job.fence)
            if let parent = job.parent { ask(parent, fence: 0) }
            let context =
                job.context ?? TraceContext(trace: prefixes.numbers(of: job.root).trace(ofRoot: job.root), span: 0)
            guard context.isSampled, queue.hasRoom() else { continue }
            let above = job.isBelowParent ? job.parent.map { prefixes.numbers(of: $0).span(ofJob: $0) } : nil
            put(
                TraceSpan.job(
                    job, context: context, id: prefixes.numbers(of: job.id).span(ofJob: job.id),
                    parent: above ?? context.span))
        }
    }

    /// Drops all questions: the jobs of another database have the same numbers.
    func forgetDatabase() { questions.forget() }

    // MARK: the collector

    /// Sends a batch if one is due, and reports dropped spans.
    func send() {
        guard let export else { return }
        if let batch = queue.nextBatch(isLast: lastMoment != nil, now: now) {
            shared.agent.start(export.call(TraceSpan.body(batch, resource: export.resource)), slot: shared.spanSlot)
        }
        guard queue.dropped > reported else { return }
        shared.configuration.workerHealth?.spansDropped(queue.dropped)
        guard shared.warnings.shouldReportSpans(now: now) else { return }
        shared.log(.spansDropped(spans: queue.dropped - reported, reason: reason))
        reported = queue.dropped
    }

    /// Handles the end of a request to the collector.
    func exportEnded(_ outcome: CallOutcome) {
        switch outcome.ending {
        case .response(let response) where (200..<300).contains(response.status): queue.sent()
        case .response(let response):
            reason = "the collector answered \(response.status)"
            // The statuses that OTLP names for a second try.
            guard [429, 502, 503, 504].contains(response.status) else { return queue.refused() }
            let asked = response.retryAfter.map { UInt64(clamping: $0.components.seconds) &* 1_000_000_000 }
            queue.failed(asksFor: asked, isLast: lastMoment != nil, now: now)
        case .failure(let failure):
            reason = "the collector cannot be reached (\(failure.code.rawValue))"
            queue.failed(isLast: lastMoment != nil, now: now)
        }
    }

    /// When this loop must act, nil if it need not act before an event.
    var deadline: UInt64? {
        guard export != nil else { return nil }
        let canAsk = shared.dispatcher.worker > 0 && duties.isReady && !duties.awaits(.takeEndedSpans)
        return earliest([queue.due, canAsk ? questions.due : nil, lastMoment.flatMap { $0 > now ? $0 : nil }])
    }

    /// Whether a worker that has stored all its results still waits for its last spans. The wait ends after 3 s.
    func lastSpansWait() -> Bool {
        guard export != nil else { return false }
        let moment = lastMoment ?? now + TraceLoop.lastWait
        if lastMoment == nil {
            lastMoment = moment
            questions.hurry(now: now)
        }
        guard now < moment else { return false }
        return !queue.isEmpty || duties.isReady && (!questions.isEmpty || duties.awaits(.takeEndedSpans))
    }
}
