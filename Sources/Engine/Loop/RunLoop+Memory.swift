// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobModel

// Memory: large bodies are fetched, and large answers go on, when the budget has room for them.
extension RunLoop {
    /// Hands a call to the agent, with the number of answer bytes that it may keep.
    func begin(_ call: HTTPCall, slot: Int) {
        var call = call
        dispatcher.bound(&call, slot: slot)
        agent.start(call, slot: slot)
    }

    /// Grants memory to waiting bodies and answers. Logs once a minute that some have waited longer than 5 s.
    func serveMemory() {
        guard agent.hasWaitingAnswers || !dispatcher.waitingBodies.isEmpty else {
            return dispatcher.memory.nothingWaits()
        }
        let answers = agent.waitingAnswers().filter { $0.slot < firstTokenSlot }
        let waiting = answers.map { MemoryBudget.Waiting(slot: $0.slot, wanted: $0.wanted, since: $0.since) }
        for (slot, room) in dispatcher.serveMemory(waiting, now: now) { agent.giveRoom(slot: slot, bytes: room) }
        if dispatcher.memory.overdueSince != nil, warnings.shouldReportMemory(now: now) {
            configuration.log(.memoryShort(bodies: dispatcher.waitingBodies.count, answers: answers.count))
        }
    }
}
