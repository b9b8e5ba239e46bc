// SPDX-License-Identifier: Apache-2.0

/// When each recurring duty is due next, in monotonic nanoseconds.
struct Schedule {
    static let beatInterval: UInt64 = 3_000_000_000
    static let abortsInterval: UInt64 = 500_000_000
    /// A settle may hold the session for 6 s. After a gap of 6.8 s between two heartbeats the database takes this
    /// worker for one that was suspended. So a heartbeat precedes a settle if the last one is 250 ms old.
    static let beatBeforeSettle: UInt64 = 250_000_000
    static let progressInterval: UInt64 = 1_000_000_000
    static let leadInterval: UInt64 = 1_000_000_000
    static let queueDutiesInterval: UInt64 = 100_000_000
    /// The interval while lists of many lanes wait in the intake, which are fed in small steps: 30 ms.
    static let queueDutiesCrowdInterval: UInt64 = 30_000_000
    /// After a notification about jobs the claim goes first: 3 ms. Concurrent queue duties delayed the call of a job
    /// by 0.3 ms (2 cores). A job on a new track waits these 3 ms for its track.
    static let queueDutiesAfterNotification: UInt64 = 3_000_000
    static let watchInterval: UInt64 = 1_000_000_000
    static let partitionInterval: UInt64 = 5_000_000_000
    /// 10 min after a new partition could not be attached in time. INSERTs wait during each attempt, on a slow disk as
    /// long as a write of 64 MiB takes.
    static let partitionRest: UInt64 = 600_000_000_000
    /// The interval while tracks are left to check, and while jobs may arrive on removed ones: 1 s.
    static let tracksInterval: UInt64 = 1_000_000_000
    /// The interval after all tracks were checked: 60 s.
    static let tracksRest: UInt64 = 60_000_000_000
    static let partsInterval: UInt64 = 3_600_000_000_000
    /// The interval at which the worker asks for the names of new tracks for its metrics: 1 s.
    static let labelsInterval: UInt64 = 1_000_000_000

    var beat: UInt64 = 0
    var aborts: UInt64 = 0
    var progress: UInt64 = 0
    var lead: UInt64 = 0
    var queueDuties: UInt64 = 0
    /// Reaping, expiring and folding.
    var watch: UInt64 = 0
    var partition: UInt64 = 0
    /// The removal of unused tracks.
    var tracks: UInt64 = 0
    /// The removal of abandoned partial downloads. It runs together with other duties, so it does not wake the loop.
    var parts: UInt64 = 0
    /// The names of tracks for the metrics. They do not wake the loop either.
    var labels: UInt64 = 0

    /// The earliest of the moments that concern this worker.
    ///
    /// - Parameter canRunQueueDuties: whether no queue duties are under way. Their moment stands until they are sent
    ///   again. Once it has passed, it would keep the loop awake until the answer arrives.
    func earliest(leads: Bool, hasCalls: Bool, canRunQueueDuties: Bool) -> UInt64 {
        var moment = min(beat, lead)
        if hasCalls { moment = min(moment, aborts, progress) }
        if leads { moment = min(moment, watch, partition, tracks) }
        if leads && canRunQueueDuties { moment = min(moment, queueDuties) }
        return moment
    }

    /// Whether a moment has come. If true, it moves to one interval from now.
    static func isDue(_ moment: inout UInt64, every interval: UInt64, now: UInt64) -> Bool {
        guard now >= moment else { return false }
        moment = now + interval
        return true
    }
}
