// SPDX-License-Identifier: Apache-2.0

/// Decides when a leader deletes old jobs, and when it opens the connection for that. Pure.
///
/// A step may take seconds, so pruning has its own connection. It exists only during a round.
struct PruneSchedule {
    /// The action that is due.
    enum Action: Equatable {
        case none
        case connect
        case step
        case close
    }

    /// The wait of a new leader before its first round: 10 s.
    static let start: UInt64 = 10_000_000_000
    /// The wait after a failure: 60 s.
    static let rest: UInt64 = 60_000_000_000

    /// When the next step is due. Nil if this worker does not lead.
    private(set) var due: UInt64?
    private var isConnected = false
    private var begun: UInt64?

    /// Records whether this worker leads.
    mutating func leads(_ leads: Bool, now: UInt64) {
        due = leads ? now + PruneSchedule.start : nil
    }

    /// The action that is due. It counts as done.
    mutating func next(isReady: Bool, now: UInt64) -> Action {
        guard begun == nil else { return .none }
        guard let due else {
            guard isConnected else { return .none }
            isConnected = false
            return .close
        }
        guard now >= due else { return .none }
        guard isConnected else {
            isConnected = true
            return .connect
        }
        guard isReady else { return .none }
        begun = now
        return .step
    }

    /// When the next action is due. Nil if none is due before an event.
    func deadline(now: UInt64) -> UInt64? {
        guard begun == nil, let due, now < due || !isConnected else { return nil }
        return due
    }

    /// Records that a step is done.
    ///
    /// - Parameter wait: nanoseconds until the next step. If 0, the round goes on over the same connection, after a
    ///   pause as long as the step, so pruning takes half of a core at most.
    /// - Returns: whether to close the connection.
    mutating func stepped(wait: UInt64, now: UInt64) -> Bool {
        let cost = now - (begun ?? now)
        begun = nil
        guard due != nil else { return false }
        due = now + (wait == 0 ? cost : wait)
        isConnected = wait == 0
        return wait > 0
    }

    /// Records a failed step or a lost connection. The next round begins after a rest. The caller closes the
    /// connection.
    mutating func failed(now: UInt64) {
        begun = nil
        isConnected = false
        if due != nil { due = now + PruneSchedule.rest }
    }
}
