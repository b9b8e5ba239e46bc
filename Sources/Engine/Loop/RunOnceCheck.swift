// SPDX-License-Identifier: Apache-2.0

/// Decides when a worker that runs once has no work left. Pure. Times are monotonic nanoseconds.
///
/// ```
///  idle ──► ask ──► the database: which work is left? ──► none, and idle throughout ──► end
///            ▲                    │ some
///            └───── 100 ms ◄──────┘
/// ```
/// The question uses the session of the finishes, and is sent after all of them are confirmed. So its answer includes
/// their consequences. An answer counts only if no claim was under way meanwhile: a job on its way to the worker is
/// missing in both places.
struct RunOnceCheck {
    /// The reaction to an answer.
    enum Decision: Equatable {
        /// Some work is left, or the answer is void.
        case goOn
        /// No work is left. The changes of the counters must be folded first, since no leader may follow this one.
        case fold
        /// No work is left.
        case end
        /// Work is left that cannot become a call: it is locked, or a limit or another worker holds it.
        case giveUp(String)
    }

    /// The pause between two questions: 100 ms, or ten times the duration of the answer if that is longer.
    static let pause: UInt64 = 100_000_000
    /// The worker gives up after a minute without a call.
    static let patience: UInt64 = 60_000_000_000
    /// The worker gives up after 5 s if only other queues may hold the work: a busy fleet always has some.
    static let foreignPatience: UInt64 = 5_000_000_000

    /// Whether the worker takes jobs of certain queues only.
    private let isBound: Bool
    private var isAsking = false
    private var isVoid = false
    private var asked: UInt64 = 0
    private var nextAsk: UInt64 = 0
    /// When this worker was last at work (nil: not yet), and when it last made jobs ready as the leader.
    private var progress: UInt64?
    private var moved: UInt64 = 0
    /// When the last answered fold began.
    private var folded: UInt64?

    /// A check before its first question. `isBound`: whether the worker takes jobs of certain queues only.
    init(isBound: Bool) { self.isBound = isBound }

    /// Records that a call or a write is under way.
    mutating func worked(now: UInt64) {
        progress = now
        isVoid = true
    }

    /// Records that this worker, as the leader, has made jobs of some queue ready. The minute of patience begins anew,
    /// since these jobs can become calls only now.
    mutating func makesReady(now: UInt64) { moved = now }

    /// Records that a claim is under way. An answer that arrives now may be from before or after the claim.
    mutating func claims() { isVoid = true }

    /// Records that a fold has included all changes up to this moment.
    mutating func hasFolded(since moment: UInt64) { folded = moment }

    /// Whether to ask now. True counts it as asked. Call it only while the worker is idle.
    mutating func asks(now: UInt64) -> Bool {
        guard !isAsking, now >= nextAsk else { return false }
        if progress == nil { progress = now }
        isAsking = true
        isVoid = false
        asked = now
        return true
    }

    /// When to ask, nil if a question is under way. Read it only while the worker is idle.
    var due: UInt64? { isAsking ? nil : nextAsk }

    /// Decides what follows from an answer.
    ///
    /// - Parameter left: the kind of work that is left, nil if none is.
    mutating func answered(_ left: String?, leads: Bool, now: UInt64) -> Decision {
        guard isAsking else { return .goOn }
        isAsking = false
        nextAsk = now + max(RunOnceCheck.pause, 10 * (now - min(now, asked)))
        let progress = progress ?? now
        guard !isVoid else {
            nextAsk = now
            return .goOn
        }
        guard let left else {
            // Changes that cannot be folded now are left to the next leader.
            guard leads, folded.map({ $0 <= progress }) ?? true, now < progress + RunOnceCheck.foreignPatience else {
                return .end
            }
            nextAsk = now + RunOnceCheck.pause
            return .fold
        }
        // Batches, chains and schedules may belong to other queues only.
        let isForeign = isBound && ["tree", "schedule"].contains(left)
        let end = isForeign ? progress + RunOnceCheck.foreignPatience : max(progress, moved) + RunOnceCheck.patience
        guard now >= end else { return .goOn }
        return .giveUp(left)
    }

    /// Records that the question has failed.
    mutating func askingFailed(now: UInt64) {
        isAsking = false
        nextAsk = now + RunOnceCheck.pause
    }
}
