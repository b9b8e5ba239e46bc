// SPDX-License-Identifier: Apache-2.0

/// When a worker that runs once has nothing left to do. Pure. Monotonic nanoseconds.
///
/// ```
///  nothing under way ──► asks ──► the database: what is left? ──► nothing, and nothing under way meanwhile ──► end
///                          ▲                   │ something
///                          └──── 100 ms ◄──────┘
/// ``` The question goes the way of the finishes and is sent when all of them are confirmed, so its answer holds what
/// they have set off. An answer counts only if no claim was under way between the two: what one took away would be
/// neither there nor here.
struct RunOnceCheck {
    /// What follows from an answer.
    enum Decision: Equatable {
        /// Something is left, or the answer says nothing.
        case goOn
        /// Nothing is left, and the counters of what has ended are to be added up first, since no leader may come after
        /// this one.
        case fold
        /// Nothing is left.
        case end
        /// Something is left that does not become a call: locked, or held by a limit or by other workers.
        case giveUp(String)
    }

    /// 100 ms between two questions; more where an answer takes long.
    static let pause: UInt64 = 100_000_000
    /// A minute without a call.
    static let patience: UInt64 = 60_000_000_000
    /// 5 s, for what other queues may be the reason of: in a busy fleet there is always some of it.
    static let foreignPatience: UInt64 = 5_000_000_000

    /// Whether the worker takes jobs of some queues only.
    private let isBound: Bool
    private var isAsking = false
    private var isVoid = false
    private var asked: UInt64 = 0
    private var nextAsk: UInt64 = 0
    /// When this worker was last at work, and when it last made jobs ready as the leader; nil: not yet.
    private var progress: UInt64?
    private var moved: UInt64 = 0
    /// When the last fold that has been answered had begun.
    private var folded: UInt64?

    /// Nothing is known yet.
    init(isBound: Bool) { self.isBound = isBound }

    /// A call is under way, or something is being written.
    mutating func worked(now: UInt64) {
        progress = now
        isVoid = true
    }

    /// As the leader it has made jobs ready, of whatever queue. Each look finds them in the one place or in the other.
    mutating func makesReady(now: UInt64) { moved = now }

    /// A claim is under way: an answer that comes now may be of before or of after.
    mutating func claims() { isVoid = true }

    /// The leader has added up what had ended by this moment.
    mutating func hasFolded(since moment: UInt64) { folded = moment }

    /// Whether to ask now; it counts as asked. For a moment in which nothing is under way.
    mutating func asks(now: UInt64) -> Bool {
        guard !isAsking, now >= nextAsk else { return false }
        if progress == nil { progress = now }
        isAsking = true
        isVoid = false
        asked = now
        return true
    }

    /// When to ask; nil: not before something has happened. For a moment in which nothing is under way.
    var due: UInt64? { isAsking ? nil : nextAsk }

    /// The answer is there.
    ///
    /// - Parameter left: what is left, in a word; nil: nothing.
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
            // What cannot be added up now is left to the next leader.
            guard leads, folded.map({ $0 <= progress }) ?? true, now < progress + RunOnceCheck.foreignPatience else {
                return .end
            }
            nextAsk = now + RunOnceCheck.pause
            return .fold
        }
        let isForeign = isBound && ["tree", "schedule"].contains(left)
        let end = isForeign ? progress + RunOnceCheck.foreignPatience : max(progress, moved) + RunOnceCheck.patience
        guard now >= end else { return .goOn }
        return .giveUp(left)
    }

    /// There is no answer.
    mutating func askingFailed(now: UInt64) {
        isAsking = false
        nextAsk = now + RunOnceCheck.pause
    }
}
