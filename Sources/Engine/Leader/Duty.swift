// SPDX-License-Identifier: Apache-2.0

/// What the duties session is asked to do; the raw value is part of a statement's tag.
enum Duty: UInt64, CaseIterable {
    case beat = 1
    case takeAborts, lead, tend, survey, setIdle, reap, expire, fold, extendPartitions, progress, settle, tick, draw
    case endSession, askAfterJobs, removeTracks
    case credentials, storeSealedSecrets, refreshAnswer, refreshEnd

    /// Whether its answer holds whatever number the worker has meanwhile.
    var isAboutCredentials: Bool { rawValue >= Duty.credentials.rawValue }
}

/// Tags of statements, by which their answers are known.
enum Tag {
    /// On the jobs session: an exchange's finish and claim, a preparation, a question for what is locked, a look at the
    /// schema, the enlisting, the goodbye, to wait for a lock for a short time only, a question for the silent duties
    /// session, one for what is left.
    static func finish(_ number: UInt64) -> UInt64 { number << 2 }
    static func claim(_ number: UInt64) -> UInt64 { number << 2 | 1 }
    static func preparation(_ number: UInt64) -> UInt64 { number << 2 | 2 }
    static func question(_ number: UInt64) -> UInt64 { number << 2 | 3 }
    static let hurry: UInt64 = 0
    static let schema: UInt64 = 1
    static let enlist: UInt64 = 2
    static let leave: UInt64 = 3
    static let askAfterDuties: UInt64 = .max
    static let workLeft: UInt64 = .max - 1

    /// On the callbacks session: the limit of time, ends of jobs, and a job's hooks before its call.
    static let limitTime: UInt64 = 0
    static let conclude: UInt64 = 1
    static let putOff: UInt64 = 2
    static let beginKind: UInt64 = 3
    static func begin(_ number: UInt64) -> UInt64 { number << 2 | beginKind }

    /// On the judging session, after the statement that sets the time limit.
    static func judgement(_ number: UInt64) -> UInt64 { number + 1 }
    static func number(ofJudgement tag: UInt64) -> UInt64 { tag - 1 }

    /// On the duties session: the duty, and the worker it was for; answers for a former number mean nothing.
    static func duty(_ duty: Duty, worker: Int32) -> UInt64 { UInt64(UInt32(bitPattern: worker)) << 8 | duty.rawValue }
    static func duty(of tag: UInt64) -> Duty? { Duty(rawValue: tag & 0xff) }
    static func worker(of tag: UInt64) -> Int32 { Int32(truncatingIfNeeded: tag >> 8) }
}
