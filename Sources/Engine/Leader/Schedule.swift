// SPDX-License-Identifier: Apache-2.0

/// When each recurring duty is due next, in monotonic nanoseconds.
struct Schedule {
    static let beatInterval: UInt64 = 3_000_000_000
    static let abortsInterval: UInt64 = 500_000_000
    /// A settle may hold the session for 6 s, and a gap of 6.8 s between two heartbeats says that this worker was away.
    static let beatBeforeSettle: UInt64 = 250_000_000
    static let progressInterval: UInt64 = 1_000_000_000
    static let leadInterval: UInt64 = 1_000_000_000
    static let tendInterval: UInt64 = 100_000_000
    /// While lists of many lanes wait in the intake, which are fed in small steps.
    static let tendCrowdInterval: UInt64 = 30_000_000
    /// News of jobs: the claim goes first. Beside it on two cores, tend took 0.3 ms of a job's way to its call; one on
    /// a new track waits these 3 ms for its track.
    static let tendAfterNews: UInt64 = 3_000_000
    static let watchInterval: UInt64 = 1_000_000_000
    static let partitionInterval: UInt64 = 5_000_000_000
    /// 10 min, after a new range could not be attached in time: INSERTs stand still meanwhile, on a slow disk for as
    /// long as 64 MiB take.
    static let partitionRest: UInt64 = 600_000_000_000
    /// While tracks are left to look at, and while jobs may come in on removed ones.
    static let tracksInterval: UInt64 = 1_000_000_000
    /// After all tracks have been looked at.
    static let tracksRest: UInt64 = 60_000_000_000
    static let partsInterval: UInt64 = 3_600_000_000_000

    var beat: UInt64 = 0
    var aborts: UInt64 = 0
    var progress: UInt64 = 0
    var lead: UInt64 = 0
    var tend: UInt64 = 0
    /// Reap, expire, fold.
    var watch: UInt64 = 0
    var partition: UInt64 = 0
    /// Unused tracks.
    var tracks: UInt64 = 0
    /// Remains of downloads; done when something else is due, so it wakes nobody.
    var parts: UInt64 = 0

    /// The earliest that concerns this worker.
    ///
    /// - Parameter canTend: whether no tend is under way. Its moment stands until the next one goes out: gone by, it
    ///   would keep the loop awake for as long as the answer takes.
    func earliest(leads: Bool, hasCalls: Bool, canTend: Bool) -> UInt64 {
        var moment = min(beat, lead)
        if hasCalls { moment = min(moment, aborts, progress) }
        if leads { moment = min(moment, watch, partition, tracks) }
        if leads && canTend { moment = min(moment, tend) }
        return moment
    }
}
