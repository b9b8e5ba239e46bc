// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel
internal import JobStore
internal import WebhookSigning

/// Starts the calls of jobs: when they are signed and logged in, and when their lane and the memory allow it.
final class CallStarter {
    private let shared: SharedState
    private let registration: Registration
    private let credentials: CredentialLoop
    private let stop: StopSequence
    private let traces: TraceLoop

    /// A starter without calls.
    init(
        _ shared: SharedState, _ registration: Registration, _ credentials: CredentialLoop, _ stop: StopSequence,
        _ traces: TraceLoop
    ) {
        self.shared = shared
        self.registration = registration
        self.credentials = credentials
        self.stop = stop
        self.traces = traces
    }

    private var now: UInt64 { shared.now }

    /// Calls a job now, or when its lane allows it. After the drain the job is handed back without a call.
    func start(_ call: HTTPCall, slot: Int) {
        guard !stop.isDrainOver else { return }
        if shared.configuration.makesNoCalls, call.stub == nil {
            return refuse(
                slot, .config, "this worker makes no real calls (--stubs-only), and the job has no service with a stub")
        }
        if shared.dispatcher.admit(call, slot: slot, now: now) { begin(call, slot: slot) }
    }

    /// Starts calls whose moment has come. Cuts off calls in lanes with limits if this worker may be declared lost.
    func startDue() {
        guard shared.dispatcher.claims.hasLanes else { return }
        while let (slot, call) = shared.dispatcher.nextStart(now: now) { begin(call, slot: slot) }
        guard let end = registration.liveness.end, now >= end else { return }
        // No other call begins before the database has answered.
        shared.dispatcher.claims.requestLanesAgain()
        let slots = shared.dispatcher.slots.limited
        guard !slots.isEmpty else { return }
        for slot in slots {
            traces.callCutOff(slot: slot, .lostWorker)
            let sent = shared.agent.cancel(slot: slot)
            shared.dispatcher.callCutOff(slot: slot, sent: sent, cause: "was cut off from the database", now: now)
        }
        shared.log(.handedBack(jobs: slots.count))
    }

    /// Calls a prepared job. It signs a webhook and inserts secrets. Without them no call is made.
    func startPrepared(_ job: ClaimedJob, slot: Int) {
        guard var call = job.call else {
            return refuse(slot, .internal, "the database has prepared no call for this job; please report it")
        }
        if let stamp = job.webhook {
            guard let keys = shared.configuration.webhookKeys else {
                return refuse(
                    slot, .config,
                    "this worker has no secret to sign webhooks with; start it with POSTRIDER_WEBHOOK_SECRET and retry the job"
                )
            }
            guard case .bytes(let body, _) = call.body else {
                return refuse(slot, .internal, "this webhook has no body of bytes to sign; please report it")
            }
            call.headers += stamp.headers(signature: keys.signature(id: stamp.id, time: stamp.time, body: body))
        }
        if let use = job.credential, let refusal = credentials.logIn(&call, with: use) {
            traces.callRefused(slot: slot)
            return shared.dispatcher.callRefused(slot: slot, refusal, now: now)
        }
        start(call, slot: slot)
    }

    private func refuse(_ slot: Int, _ code: ErrorCode, _ reason: String) {
        traces.callRefused(slot: slot)
        shared.dispatcher.callRefused(slot: slot, Verdict(.failed, code, reason), now: now)
    }

    /// Hands a call to the agent, with the number of answer bytes that it may keep.
    private func begin(_ call: HTTPCall, slot: Int) {
        var call = call
        shared.dispatcher.bound(&call, slot: slot)
        shared.agent.start(call, slot: slot)
    }

    /// Grants memory to waiting bodies and answers. Logs once a minute that some have waited longer than 5 s.
    func serveMemory() {
        guard shared.agent.hasWaitingAnswers || !shared.dispatcher.waitingBodies.isEmpty else {
            return shared.dispatcher.memory.nothingWaits()
        }
        let answers = shared.agent.waitingAnswers().filter { $0.slot < shared.firstTokenSlot }
        let waiting = answers.map { MemoryBudget.Waiting(slot: $0.slot, wanted: $0.wanted, since: $0.since) }
        for (slot, room) in shared.dispatcher.serveMemory(waiting, now: now) {
            shared.agent.giveRoom(slot: slot, bytes: room)
        }
        if shared.dispatcher.memory.overdueSince != nil, shared.warnings.shouldReportMemory(now: now) {
            shared.log(.memoryShort(bodies: shared.dispatcher.waitingBodies.count, answers: answers.count))
        }
    }

    /// Reports calls that wait for a file descriptor, once a minute.
    func reportShortage() {
        guard shared.agent.isShortOfDescriptors, shared.warnings.shouldReportDescriptors(now: now) else { return }
        shared.log(.outOfDescriptors)
    }
}
