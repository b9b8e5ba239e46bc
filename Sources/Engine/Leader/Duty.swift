// SPDX-License-Identifier: Apache-2.0

/// The statements of the duties session. The raw value is part of the statement's tag.
enum Duty: UInt64, CaseIterable {
    case beat = 1
    case takeAborts, lead, runQueueDuties, survey, setIdle, reap, expire, fold, extendPartitions, progress, settle,
        tick, acquireLanePermits
    case endSession, askAfterJobs, removeTracks, takeUnreportedEnds, trackLabels, takeEndedSpans
    case credentials, storeSealedSecrets, readRefreshAnswer, storeRefresh

    /// Whether its answer stays valid if the worker gets another number. The cases about credentials are the last ones.
    var isAboutCredentials: Bool { rawValue >= Duty.credentials.rawValue }
}

/// Tags of statements. An answer carries the tag of its statement.
enum Tag {
    /// The jobs session: an exchange's finish and claim, a preparation, and a question about locked rows. Their numbers
    /// begin at 1, so the constants may use the tags 0 to 3.
    ///
    /// The constants stand for the short lock timeout, the schema check, the enlisting and the sign-off. The last three
    /// are the question about a silent duties session, the question about remaining work, and a change of listening.
    static func finish(_ number: UInt64) -> UInt64 { number << 2 }
    static func claim(_ number: UInt64) -> UInt64 { number << 2 | 1 }
    static func preparation(_ number: UInt64) -> UInt64 { number << 2 | 2 }
    static func question(_ number: UInt64) -> UInt64 { number << 2 | 3 }
    static let shortLockTimeout: UInt64 = 0
    static let schema: UInt64 = 1
    static let enlist: UInt64 = 2
    static let leave: UInt64 = 3
    static let askAfterDuties: UInt64 = .max
    static let workLeft: UInt64 = .max - 1
    static let listening: UInt64 = .max - 2

    /// The callbacks session: the time limit, conclusions, and a job's hooks before its call.
    static let limitTime: UInt64 = 0
    static let conclude: UInt64 = 1
    static let deferral: UInt64 = 2
    static let beginKind: UInt64 = 3
    static func begin(_ number: UInt64) -> UInt64 { number << 2 | beginKind }

    /// The judging session. Tag 0 is the statement that sets the time limit.
    static func judgement(_ number: UInt64) -> UInt64 { number + 1 }
    static func number(ofJudgement tag: UInt64) -> UInt64 { tag - 1 }

    /// The duties session: the duty, and the worker's number. Answers for a former number are void.
    static func duty(_ duty: Duty, worker: Int32) -> UInt64 { UInt64(UInt32(bitPattern: worker)) << 8 | duty.rawValue }
    static func duty(of tag: UInt64) -> Duty? { Duty(rawValue: tag & 0xff) }
    static func worker(of tag: UInt64) -> Int32 { Int32(truncatingIfNeeded: tag >> 8) }
}
