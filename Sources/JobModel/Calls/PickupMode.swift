// SPDX-License-Identifier: Apache-2.0

/// How a worker with free slots learns about new jobs. Pure: the owner reports the events and their times.
///
/// *Listening*: the worker has a row in `idle_workers`, so INSERTs notify it. This is best at a low rate.
///
/// *Polling*: the worker claims every 2 ms, and INSERTs notify no worker. NOTIFY takes a lock that makes all commits
/// wait for each other's flush. Measured on a disk with 1 ms flushes: 6,100 commits/s without NOTIFY, 800 with it.
///
/// *Standing by*: enough other idle workers of the same queues listen, so INSERTs need not notify this one. A NOTIFY
/// wakes all sessions that listen. The worker looks for jobs at a slower pace, until a look brings jobs or too few
/// others listen.
public struct PickupMode: Sendable, Equatable {
    /// The action that the owner must take.
    public enum Change: Equatable, Sendable {
        case none
        /// Insert the row, then claim once more, because a job may have arrived in between.
        case listen
        /// Delete the row.
        case stopListening
        /// Delete the row, and receive no more notifications.
        case standBy
        /// Receive notifications again.
        case wake
    }

    static let pollInterval: UInt64 = 2_000_000
    /// The poll interval while listening, and if listening is not possible: 250 ms with few workers.
    public static let fallbackInterval: UInt64 = 250_000_000
    /// After so many empty claims in a row the worker listens.
    static let emptyPollsBeforeListening = 25
    /// More notifications than this in half a second cost more than polls.
    static let wakeLimit = 100
    /// So many idle workers of the same queues listen; further ones stand by.
    public static let mostListeners = 16
    /// A worker that stands by wakes up when fewer than this listen. The distance keeps workers from going to and fro.
    static let fewestListeners = 8
    /// From so many workers of the same queues on, each looks less often for jobs that no notification has announced. All
    /// of them together look 32 times a second.
    static let fewPeers = 8
    /// A worker counts its peers once in so many heartbeats: one for every 48 peers, at most ten. A count reads the rows
    /// of all peers: with 300 of them a heartbeat took 1.0 ms, and without the count 0.7 ms.
    static let peersPerBeat = 48
    static let mostBeatsPerCount = 10
    /// The longest interval of a worker that listens, and of one that stands by: 1 s, 15 s.
    static let longestFallback: UInt64 = 1_000_000_000
    static let longestStandby: UInt64 = 15_000_000_000

    /// Whether NOTIFY can reach this worker. It cannot behind PgBouncer in transaction mode.
    let canListen: Bool
    /// Whether the worker waits for NOTIFY instead of polling.
    public private(set) var isListening = false
    /// Whether the worker stands by.
    public private(set) var isStandingBy = false
    /// The interval of looks for jobs that no notification has announced.
    public private(set) var fallback = PickupMode.fallbackInterval
    private var emptyPolls = 0
    private var fullClaims = 0
    /// The heartbeats before the next count of peers.
    private var beatsUntilCount = 0
    private var wakes = 0
    private var windowStart: UInt64 = 0

    /// A mode that begins with polling.
    public init(canListen: Bool) {
        self.canListen = canListen
    }

    /// The time until the next poll if no event comes before, in nanoseconds.
    public var interval: UInt64 {
        if !isListening, !isStandingBy, emptyPolls < PickupMode.emptyPollsBeforeListening {
            return PickupMode.pollInterval
        }
        return fallback
    }

    /// Records that a claim returned `rows` of the `limit` that it asked for.
    public mutating func claimReturned(rows: Int, limit: Int) -> Change {
        emptyPolls = rows == 0 ? emptyPolls + 1 : 0
        fullClaims = rows == limit ? fullClaims + 1 : 0
        if isListening {
            // With a backlog, notifications about further jobs are useless.
            return fullClaims >= 20 ? stop() : .none
        }
        if isStandingBy { return rows > 0 ? wake() : .none }
        guard canListen, emptyPolls >= PickupMode.emptyPollsBeforeListening else { return .none }
        isListening = true
        wakes = 0
        return .listen
    }

    /// Records a heartbeat.
    ///
    /// - Returns: whether it counts the workers of the same queues. Their number does not matter to a worker that
    ///   neither listens nor stands by.
    public mutating func beatBegins() -> Bool {
        guard isListening || isStandingBy else { return false }
        beatsUntilCount -= 1
        return beatsUntilCount < 0
    }

    /// Records how many workers of the same queues there are.
    ///
    /// - Parameters:
    ///   - listeners: how many of them listen and have free slots; if this worker listens, only those before it.
    ///   - peers: all of them, this one included.
    public mutating func counted(listeners: Int, peers: Int) -> Change {
        guard isListening || isStandingBy else { return .none }
        if isStandingBy, listeners < PickupMode.fewestListeners { return wake() }
        let standsBy = isListening && listeners >= PickupMode.mostListeners
        if standsBy {
            isListening = false
            isStandingBy = true
        }
        beatsUntilCount = min(max(0, peers) / PickupMode.peersPerBeat, PickupMode.mostBeatsPerCount - 1)
        let pace = PickupMode.fallbackInterval * UInt64(max(0, peers)) / UInt64(PickupMode.fewPeers)
        let longest = isStandingBy ? PickupMode.longestStandby : PickupMode.longestFallback
        fallback = min(max(PickupMode.fallbackInterval, pace), longest)
        return standsBy ? .standBy : .none
    }

    private mutating func wake() -> Change {
        poll()
        return .wake
    }

    /// Records that a NOTIFY arrived.
    public mutating func notified(now: UInt64) -> Change {
        guard isListening else { return .none }
        if now >= windowStart + 500_000_000 {
            windowStart = now
            wakes = 0
        }
        wakes += 1
        return wakes > PickupMode.wakeLimit ? stop() : .none
    }

    /// Records that the connection was lost. A server crash also removes the row, since its table is unlogged.
    public mutating func connectionLost() { poll() }

    private mutating func stop() -> Change {
        poll()
        return .stopListening
    }

    private mutating func poll() {
        isListening = false
        isStandingBy = false
        fallback = PickupMode.fallbackInterval
        beatsUntilCount = 0
        emptyPolls = 0
        fullClaims = 0
    }
}
