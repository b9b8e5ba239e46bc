// SPDX-License-Identifier: Apache-2.0

internal import Reactor
internal import Synchronization

/// The state of a worker for other threads. The loop writes it in each turn, and any thread may read it.
public final class WorkerHealth: Sendable {
    /// The abilities of a worker at one moment.
    public enum Condition: Equatable, Sendable {
        /// It claims jobs and makes calls.
        case ready
        /// It completes its calls, and claims no more.
        case draining
        /// It has no session or no number in the database, and reconnects.
        case disconnected
        /// The database has refused all results for this time, and so many of them wait.
        case refused(results: Int, seconds: Int)
        /// Its loop has made no turn for this time.
        case stalled(seconds: Int)
    }

    /// The loop makes a turn at least this often: 5 s.
    static let longestTurn: UInt64 = 5_000_000_000
    /// A loop without a turn for this time hangs: 30 s.
    private static let stall: UInt64 = 30_000_000_000
    /// A worker stays ready if its results are refused for a shorter time than this: 5 s.
    private static let refusalPatience: UInt64 = 5_000_000_000

    private let turned: Atomic<UInt64>
    private let inFlight = Atomic<Int>(0)
    private let isConnected = Atomic<Bool>(false)
    private let isDraining = Atomic<Bool>(false)
    private let refused = Atomic<Int>(0)
    /// Since when all results are refused; 0 if they are not.
    private let refusedSince = Atomic<UInt64>(0)
    private let dropped = Atomic<Int>(0)

    /// The state of a worker that is about to start.
    public init() {
        turned = Atomic(MonotonicClock.now)
    }

    /// How many results the database has refused that wait to be written again.
    public var waitingResults: Int { refused.load(ordering: .relaxed) }

    /// Spans that were dropped since the start, because the collector did not take them.
    public var droppedSpans: Int { dropped.load(ordering: .relaxed) }

    /// Calls under way.
    public var calls: Int { inFlight.load(ordering: .relaxed) }

    /// The condition of the worker now.
    public var condition: Condition { condition(now: MonotonicClock.now) }

    func condition(now: UInt64) -> Condition {
        let silence = now - min(now, turned.load(ordering: .relaxed))
        if silence >= WorkerHealth.stall { return .stalled(seconds: Int(silence / 1_000_000_000)) }
        if isDraining.load(ordering: .relaxed) { return .draining }
        guard isConnected.load(ordering: .relaxed) else { return .disconnected }
        let since = refusedSince.load(ordering: .relaxed)
        guard since > 0, now >= since + WorkerHealth.refusalPatience else { return .ready }
        return .refused(results: waitingResults, seconds: Int((now - since) / 1_000_000_000))
    }

    /// Records how many spans were dropped since the start.
    func spansDropped(_ spans: Int) { dropped.store(spans, ordering: .relaxed) }

    /// Records the end of a turn.
    func turned(
        now: UInt64, calls: Int, isConnected: Bool, isDraining: Bool, refused: Int = 0, refusedSince: UInt64? = nil
    ) {
        self.refused.store(refused, ordering: .relaxed)
        self.refusedSince.store(refusedSince ?? 0, ordering: .relaxed)
        turned.store(now, ordering: .relaxed)
        inFlight.store(calls, ordering: .relaxed)
        self.isConnected.store(isConnected, ordering: .relaxed)
        self.isDraining.store(isDraining, ordering: .relaxed)
    }
}
