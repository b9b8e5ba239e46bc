// SPDX-License-Identifier: Apache-2.0

internal import HTTPAgent
internal import JobStore
internal import PGClient
internal import Reactor

/// The parts of a worker that all subjects of its loop share.
///
/// Each subject is a class of its own: it has its own state, and acts through these parts and its database session.
final class SharedState {
    let configuration: EngineConfiguration
    let agent: HTTPAgent
    var dispatcher: Dispatcher
    /// The moment of this turn, in monotonic nanoseconds.
    var now: UInt64 = 0
    /// The parameters of the statement that is sent next. They are reused, so statements do not allocate memory.
    var parameters = PGParameters()
    var attemptRows = AttemptRows()
    var warnings = RepeatedWarnings()
    var memoryTrim = MemoryTrim()
    var service: ServiceReports

    /// The state of a worker before its first turn.
    ///
    /// - Throws: a sentence that names the missing feature or resource.
    init(_ configuration: EngineConfiguration) throws(EngineError) {
        self.configuration = configuration
        do throws(AgentError) {
            agent = try HTTPAgent(
                slots: configuration.concurrency + CredentialWork.seatCount + 1, filesRoot: configuration.filesRoot)
        } catch {
            throw EngineError(message: error.message)
        }
        dispatcher = Dispatcher(
            capacity: configuration.concurrency, canListen: configuration.usesSessions,
            memory: configuration.memoryBudget)
        service = ServiceReports(
            watchdogTimeout: configuration.notifySocket?.watchdogTimeout, drain: configuration.drain)
    }

    /// The first slot of token calls. The slots of jobs have the numbers before it.
    var firstTokenSlot: Int { configuration.concurrency }

    /// The slot for spans, after the slots of token calls.
    var spanSlot: Int { firstTokenSlot + CredentialWork.seatCount }

    /// Writes an event to the log.
    func log(_ event: EngineEvent) { configuration.log(event) }
}
