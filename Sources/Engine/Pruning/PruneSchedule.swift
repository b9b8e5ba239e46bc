// SPDX-License-Identifier: Apache-2.0

/// When a leader forgets old jobs, and on which connection. Pure.
///
/// A step may take seconds, so it has a connection of its own, which is there during a round only.
struct PruneSchedule {
    /// What is to be done now.
    enum Action: Equatable {
        case none
        case connect
        case step
        case close
    }

    /// 10 s: before the first round of a leader.
    static let start: UInt64 = 10_000_000_000
    /// 60 s: after a failure.
    static let rest: UInt64 = 60_000_000_000

    /// When the next step is due; nil: this worker does not lead.
    private(set) var due: UInt64?
    private var isConnected = false
    private var begun: UInt64?

    /// This worker leads now, or leads no more.
    mutating func leads(_ leads: Bool, now: UInt64) {
        due = leads ? now + PruneSchedule.start : nil
    }

    /// What is due; it counts as done.
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

    /// When something is to be done; nil: not before something happens.
    func deadline(now: UInt64) -> UInt64? {
        guard begun == nil, let due, now < due || !isConnected else { return nil }
        return due
    }

    /// A step is done.
    ///
    /// - Parameter wait: nanoseconds until the next; 0: the round goes on, after a pause as long as the step, so that
    ///   old jobs take half of a core at most. Then the connection stays.
    /// - Returns: whether the connection is to be closed.
    mutating func stepped(wait: UInt64, now: UInt64) -> Bool {
        let cost = now - (begun ?? now)
        begun = nil
        guard due != nil else { return false }
        due = now + (wait == 0 ? cost : wait)
        isConnected = wait == 0
        return wait > 0
    }

    /// A step failed, or the connection is gone: another round begins after a rest. The connection is to be closed.
    mutating func failed(now: UInt64) {
        begun = nil
        isConnected = false
        if due != nil { due = now + PruneSchedule.rest }
    }
}
