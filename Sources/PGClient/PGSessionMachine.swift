// SPDX-License-Identifier: Apache-2.0

/// The decisions of `PGSession` without a socket: when to connect, when to give up, and when to retry.
///
/// ```
/// stopped ──start──► connecting ──connected──► settingUp ──setUpDone──► ready
///                        ▲   └───failed, timeout───┴──────────┬───failed──┘
///                        └───────deadline──────── backingOff ◄┘
/// ```
/// Times are nanoseconds of any monotonic clock. The wait before attempt n is between half and all of 50 ms × 2ⁿ, at
/// most 5 s. After a connection that stayed ready for 5 s it starts again from 50 ms.
///
/// After a connection that was ready for a shorter time t, the wait is at most t / 4. So a server that ends sessions
/// every second costs its clients a quarter of the time at most. A server that ends them at once is not flooded with
/// attempts.
public struct PGSessionMachine: ~Copyable {
    /// The time limits. The defaults fit a server on the same continent.
    public struct Policy: Equatable, Sendable {
        /// The time from the start of an attempt to the answer of the last set-up statement.
        public var connectTimeout: UInt64 = 10_000_000_000
        /// The first wait.
        public var firstWait: UInt64 = 50_000_000
        /// The longest wait.
        public var longestWait: UInt64 = 5_000_000_000
        /// How long a connection must stay ready to reset the count of failures.
        public var stableAfter: UInt64 = 5_000_000_000

        /// The default time limits.
        public init() {}
    }

    /// The state of the session.
    public enum State: Equatable, Sendable {
        /// Not started.
        case stopped
        /// A connection is being opened.
        case connecting(until: UInt64)
        /// The connection is open, and the set-up statements run.
        case settingUp(until: UInt64)
        /// Statements can be sent.
        case ready(since: UInt64)
        /// The session waits until this moment before the next attempt.
        case backingOff(until: UInt64)
        /// Closed permanently.
        case closed
    }

    /// The action that follows from an event.
    public enum Action: Equatable, Sendable {
        /// No action.
        case none
        /// Begin an attempt.
        case connect
        /// Send the set-up statements.
        case setUp
        /// Report `ready` to the owner.
        case announceReady
        /// Drop the connection, and report the lost tags and the time of the next attempt.
        case drop(retryAt: UInt64)
        /// Drop the connection like `drop`, because its time limit has passed.
        case timeOut(retryAt: UInt64)
        /// Drop the connection without an event.
        case close
    }

    /// The state of the session.
    public private(set) var state: State = .stopped
    /// How many attempts failed, or ended early, since the last stable connection.
    public private(set) var failures = 0
    private let policy: Policy

    /// A machine that waits for `start`.
    public init(policy: Policy = Policy()) {
        self.policy = policy
    }

    /// When `deadlineReached` is due; nil if never.
    public var deadline: UInt64? {
        switch state {
        case .connecting(let until), .settingUp(let until), .backingOff(let until): until
        case .stopped, .ready, .closed: nil
        }
    }

    /// The owner requests a connection.
    public mutating func start(now: UInt64) -> Action {
        switch state {
        case .stopped:
            state = .connecting(until: now &+ policy.connectTimeout)
            return .connect
        case .connecting, .settingUp, .ready, .backingOff, .closed:
            return .none
        }
    }

    /// The server has accepted the connection.
    public mutating func connected() -> Action {
        switch state {
        case .connecting(let until):
            state = .settingUp(until: until)
            return .setUp
        case .stopped, .settingUp, .ready, .backingOff, .closed:
            return .none
        }
    }

    /// The last set-up statement has succeeded.
    public mutating func setUpDone(now: UInt64) -> Action {
        switch state {
        case .settingUp:
            state = .ready(since: now)
            return .announceReady
        case .stopped, .connecting, .ready, .backingOff, .closed:
            return .none
        }
    }

    /// The attempt has failed, or the connection is lost. `random` is any 64 bits.
    public mutating func failed(now: UInt64, random: UInt64) -> Action {
        switch state {
        case .connecting, .settingUp, .ready:
            return .drop(retryAt: backOff(now: now, random: random))
        case .stopped, .backingOff, .closed:
            return .none
        }
    }

    /// Handles the deadline. It does nothing before `deadline`.
    public mutating func deadlineReached(now: UInt64, random: UInt64) -> Action {
        switch state {
        case .connecting(let until), .settingUp(let until):
            guard now >= until else { return .none }
            return .timeOut(retryAt: backOff(now: now, random: random))
        case .backingOff(let until):
            guard now >= until else { return .none }
            state = .connecting(until: now &+ policy.connectTimeout)
            return .connect
        case .stopped, .ready, .closed:
            return .none
        }
    }

    /// The owner closes the session.
    public mutating func close() -> Action {
        switch state {
        case .closed:
            return .none
        case .stopped, .connecting, .settingUp, .ready, .backingOff:
            state = .closed
            return .close
        }
    }

    private mutating func backOff(now: UInt64, random: UInt64) -> UInt64 {
        var ceiling = policy.longestWait
        if case .ready(let since) = state {
            let lived = now &- since
            if lived >= policy.stableAfter { failures = 0 }
            ceiling = min(ceiling, max(policy.firstWait, lived / 4))
        }
        // 2^20 × 50 ms is 14 hours: above any ceiling, and far below an overflow.
        let wait = min(policy.firstWait << UInt64(min(failures, 20)), ceiling)
        failures += 1
        let jittered = wait / 2 + random % (wait / 2 + 1)
        state = .backingOff(until: now &+ jittered)
        return now &+ jittered
    }
}
