// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// How often surveys of all tracks may go out, by what they cost. Monotonic nanoseconds.
struct SurveyPace {
    /// Between surveys while the worker has all that it can do.
    static let interval: UInt64 = 1_000_000_000
    /// News of jobs may cause a survey this soon after the last one.
    static let quickInterval: UInt64 = 10_000_000
    /// A survey may take one part in so many of the time,
    static let rest: UInt64 = 50
    /// or this part after a notification while there is room, because a job on a new track then waits for the survey
    /// alone. It is also this part while tracks are left to survey: a lane without notifications waits for all steps up
    /// to its track.
    static let newsRest: UInt64 = 20
    /// But it never rests longer than this: what it waited for in line counts as its cost, too, and jobs of a lane that
    /// this worker has not heard of wait for it.
    static let longestRest: UInt64 = 5_000_000_000

    /// When the last survey went out.
    private(set) var began: UInt64?
    /// How long the last survey took, its way included. Nil before the first one and after it: that one waits for its
    /// plan to be made, tens of milliseconds.
    private var took: UInt64?
    private var isFirst = true
    /// Whether the last survey has looked at all tracks.
    private var isWhole = true
    /// What counts: the shorter of the last two. One that waited for a slow duty says nothing of surveys.
    private(set) var cost: UInt64 = 0

    /// Whether a survey has come back: one that is asked for now will, too.
    var isKnown: Bool { began != nil && !isFirst }

    /// From the beginning of the last survey to the next one: not so often that surveys cost more than 2 % of the time,
    /// 5 % after news, within bounds. If the last one has not looked at all tracks, only its cost counts.
    func pause(isWanted: Bool, hasRoom: Bool) -> UInt64 {
        let interval = hasRoom ? PickupMode.fallbackInterval : SurveyPace.interval
        let share = isWanted && hasRoom || !isWhole ? SurveyPace.newsRest : SurveyPace.rest
        let least = isWanted || !isWhole ? SurveyPace.quickInterval : interval
        return max(least, min(share * cost, SurveyPace.longestRest))
    }

    /// Whether one that is wanted now may go out at once or nearly so.
    func allowsOne(now: UInt64) -> Bool {
        now + SurveyPace.quickInterval >= (began ?? 0) + SurveyPace.newsRest * cost
    }

    /// A survey goes out.
    mutating func begin(now: UInt64) { began = now }

    /// Its answer is there.
    mutating func returned(now: UInt64, isWhole: Bool) {
        defer { isFirst = false }
        self.isWhole = isWhole
        guard !isFirst, let began else { return }
        cost = min(now - began, took ?? .max)
        took = now - began
    }
}
