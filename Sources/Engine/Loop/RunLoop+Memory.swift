// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel

// Memory: large bodies are fetched, and large answers go on, when the budget has room for them.
extension RunLoop {
    /// Hands a call to the agent, with the number of answer bytes that it may keep.
    func begin(_ call: HTTPCall, slot: Int) {
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
}
