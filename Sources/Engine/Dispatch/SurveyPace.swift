// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Decides how often surveys of all tracks are sent, by their cost. Times are monotonic nanoseconds.
struct SurveyPace {
    /// The interval while all slots are taken: 1 s.
    static let interval: UInt64 = 1_000_000_000
    /// A notification may cause a survey this soon after the last one: 10 ms.
    static let quickInterval: UInt64 = 10_000_000
    /// Surveys take at most one part in 50 of the time.
    static let rest: UInt64 = 50
    /// They take at most one part in 20 in two cases:
    ///
    /// - after a notification while slots are free, because a job on a new track waits only for the survey;
    /// - while tracks are left to survey, because a lane without notifications waits for all steps up to its track.
    static let shortRest: UInt64 = 20
    /// The longest rest: 5 s. The measured cost includes waits behind other statements, and jobs of an unknown lane
    /// wait for the next survey.
    static let longestRest: UInt64 = 5_000_000_000

    /// Surveys that take longer are narrow most of the time: 5 ms. While an old transaction keeps dead rows, a wide
    /// survey reads all of them: 32 ms after one minute of 3,000 jobs a second. A narrow one takes 2.2 ms.
    static let costly: UInt64 = 5_000_000
    /// In between, one wide survey is sent every minute at least. It finds rows that were committed more than two
    /// seconds after later ones.
    static let longestWideRest: UInt64 = 60_000_000_000

    /// How long surveys of one kind take, transport included.
    private struct Timing {
        private var last: UInt64?
        /// The shorter of the last two. A survey that waited for a slow duty says nothing about surveys.
        private(set) var cost: UInt64 = 0

        mutating func add(_ took: UInt64) {
            cost = min(took, last ?? .max)
            last = took
        }
    }

    /// When the last survey was sent, and the last wide one.
    private(set) var began: UInt64?
    private var wideBegan: UInt64 = 0
    private var wide = Timing()
    private var narrow = Timing()
    /// Whether the last survey was narrow.
    private var isNarrow = false
    /// The first survey does not count, since PostgreSQL also plans it, which takes tens of milliseconds.
    private var isFirst = true
    /// Whether the last survey has covered all tracks.
    private var isWhole = true

    /// How long a wide survey takes.
    var cost: UInt64 { wide.cost }

    /// Whether a survey has returned, so that the next one probably will as well.
    var isKnown: Bool { began != nil && !isFirst }

    /// Whether narrow surveys fill the time between two wide ones.
    private var isCostly: Bool { isWhole && wide.cost > SurveyPace.costly }

    /// When the next survey may be sent.
    ///
    /// - Parameters:
    ///   - isWanted: whether an event has made a wide survey worthwhile.
    ///   - fallback: the interval while slots are free.
    func due(isWanted: Bool, hasRoom: Bool, fallback: UInt64 = PickupMode.fallbackInterval) -> UInt64 {
        let wideDue = wideDue(isWanted: isWanted, hasRoom: hasRoom, fallback: fallback)
        guard isCostly, let began else { return wideDue }
        let least = isWanted ? SurveyPace.quickInterval : hasRoom ? fallback : SurveyPace.interval
        let share = isWanted ? SurveyPace.shortRest : SurveyPace.rest
        return min(wideDue, began + max(least, share * narrow.cost))
    }

    /// When the next wide survey may be sent.
    ///
    /// Surveys take at most 2 % of the time, or 5 % after notifications, within bounds. If the last one has not covered
    /// all tracks, only its cost counts.
    private func wideDue(isWanted: Bool, hasRoom: Bool, fallback: UInt64) -> UInt64 {
        let interval = hasRoom ? fallback : SurveyPace.interval
        let share = isWanted && hasRoom || !isWhole ? SurveyPace.shortRest : SurveyPace.rest
        let least = isWanted || !isWhole ? SurveyPace.quickInterval : interval
        let most = isWanted || !isCostly ? SurveyPace.longestRest : SurveyPace.longestWideRest
        return wideBegan + max(least, min(share * wide.cost, most))
    }

    /// Whether a survey that is wanted now may be sent within 10 ms.
    func allowsOne(now: UInt64) -> Bool {
        now + SurveyPace.quickInterval >= (began ?? 0) + SurveyPace.shortRest * cost
    }

    /// Records that a survey is sent.
    ///
    /// - Parameter isAwaited: whether a claim waits for it. Then it is wide.
    /// - Returns: whether it is narrow.
    mutating func begin(
        isWanted: Bool, isAwaited: Bool, hasRoom: Bool, fallback: UInt64 = PickupMode.fallbackInterval, now: UInt64
    ) -> Bool {
        isNarrow =
            isCostly && !isAwaited && now < wideDue(isWanted: isWanted, hasRoom: hasRoom, fallback: fallback)
        began = now
        if !isNarrow { wideBegan = now }
        return isNarrow
    }

    /// Records the answer of a survey.
    mutating func returned(now: UInt64, isWhole: Bool) {
        defer { isFirst = false }
        self.isWhole = isWhole
        guard !isFirst, let began else { return }
        if isNarrow { narrow.add(now - began) } else { wide.add(now - began) }
    }
}
