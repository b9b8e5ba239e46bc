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
    /// - while a round is incomplete, because a lane without notifications waits for all steps up to its track.
    static let shortRest: UInt64 = 20
    /// The longest rest: 5 s. The measured cost includes waits behind other statements, and jobs of an unknown lane
    /// wait for the next survey.
    static let longestRest: UInt64 = 5_000_000_000

    /// When the last survey was sent.
    private(set) var began: UInt64?
    /// How long the last three surveys took, transport included.
    private var latest: [UInt64] = []
    /// The median of them, of two the shorter. A survey that waited for a slow duty says nothing about surveys.
    private(set) var cost: UInt64 = 0
    /// The first survey does not count, since PostgreSQL also plans it, which takes tens of milliseconds.
    private var isFirst = true
    /// Whether the last survey has left out tracks or rows that the next one must read.
    private var hasMore = false
    /// How many surveys read all rows of busy tracks (`SurveySlices`).
    private var slices: UInt64 = 1

    /// Whether a survey has returned, so that the next one probably will as well.
    var isKnown: Bool { began != nil && !isFirst }

    /// When the next survey may be sent.
    ///
    /// Surveys take at most 2 % of the time, or 5 % after notifications, within bounds. If they are to read more, only
    /// their cost counts. Otherwise all slices are read within one interval, if their cost allows it.
    ///
    /// - Parameters:
    ///   - isWanted: whether an event has made a survey worthwhile.
    ///   - fallback: the interval while slots are free.
    func due(isWanted: Bool, hasRoom: Bool, fallback: UInt64 = PickupMode.fallbackInterval) -> UInt64 {
        guard let began else { return 0 }
        let interval = (hasRoom ? fallback : SurveyPace.interval) / slices
        let share = isWanted && hasRoom || hasMore ? SurveyPace.shortRest : SurveyPace.rest
        let least = isWanted || hasMore ? SurveyPace.quickInterval : interval
        return began + max(least, min(share * cost, SurveyPace.longestRest))
    }

    /// Whether a survey that is wanted now may be sent within 10 ms.
    func allowsOne(now: UInt64) -> Bool {
        now + SurveyPace.quickInterval >= (began ?? 0) + SurveyPace.shortRest * cost
    }

    /// Records that a survey is sent.
    mutating func sent(now: UInt64) { began = now }

    /// Records the answer of a survey.
    mutating func returned(now: UInt64, hasMore: Bool, slices: Int) {
        defer { isFirst = false }
        self.hasMore = hasMore
        self.slices = UInt64(max(1, slices))
        guard !isFirst, let began else { return }
        latest = latest.suffix(2) + [now - began]
        cost = latest.sorted()[(latest.count - 1) / 2]
    }
}
