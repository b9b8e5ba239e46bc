// SPDX-License-Identifier: Apache-2.0

import JobModel
import JobStore

@testable import Engine

/// The queue's semantics without a database: tracks of rows with a seq, leases with fences, and final results.
///
/// A claim locks rows when it runs and takes them when it commits, as in SQL. An inserted row has its seq at once.
/// Claims see it only after its commit.
final class QueueInMemory {
    struct Row {
        var seq: Int64
        var job: Int64
        var track: Int32
        var attempt: Int32 = 0
        var worker: Int32 = 0
        var fence: Int64 = 0
        var isLocked = false
        var visibleSince: UInt64?
    }

    struct Job {
        var isAtMostOnce: Bool
        /// Whether the job needs a preparation before its call.
        var isRich = false
        var maxAttempts: Int32
        var committedAt: UInt64?
        /// The letter of the final state, as in SQL.
        var final: String?
        var startedAt: UInt64?
        /// Whether its commit notified a listening worker.
        var isAnnounced = false
        /// How often its request may have been sent.
        var sends = 0
    }

    struct Registered {
        var heartbeat: UInt64
        var hasEnded = false
    }

    let timeline: Timeline
    /// The ready rows of each track, sorted by seq.
    private(set) var ready: [Int32: [Row]] = [:]
    /// The seqs of all rows that each track has had. An old transaction keeps the dead ones among them.
    private(set) var places: [Int32: [Int64]] = [:]
    private(set) var scheduled: [(at: UInt64, row: Row)] = []
    var jobs: [Int64: Job] = [:]
    private(set) var workers: [Int32: Registered] = [:]
    var idle: Set<Int32> = []
    let priorities: [Int16]
    /// The faults found so far.
    var faults: [String] = []
    private var lastSeq: Int64 = 0
    private var lastFence: Int64 = 0
    private var lastWorker: Int32 = 0
    /// Notifies listening workers. Returns whether there are any.
    var notify: (Announcement) -> Bool = { _ in false }
    /// Notifies a worker that its running job was cancelled.
    var abort: (_ worker: Int32, _ job: Int64, _ fence: Int64) -> Void = { _, _, _ in }

    init(timeline: Timeline, priorities: [Int16]) {
        self.timeline = timeline
        self.priorities = priorities
    }

    /// Inserts a job that commits at that time, or never. If workers are idle now, the commit notifies them.
    func insert(track: Int32, isAtMostOnce: Bool, isRich: Bool, maxAttempts: Int32, commitAt: UInt64?) {
        lastSeq += 1
        let id = lastSeq
        jobs[id] = Job(isAtMostOnce: isAtMostOnce, isRich: isRich, maxAttempts: maxAttempts)
        guard let commitAt else { return jobs[id] = nil }
        let hasIdleWorkers = !idle.isEmpty
        timeline.at(commitAt) { [self] in
            jobs[id]?.committedAt = timeline.now
            place(Row(seq: id, job: id, track: track))
            let job = AnnouncedJob(track: track, id: id), isNamed = id % 4 > 0
            jobs[id]?.isAnnounced = hasIdleWorkers && notify(!isRich ? .job(job) : isNamed ? .ready([job]) : .unnamed)
        }
    }

    /// The index of the first row in a track with at least this seq.
    private func index(_ track: Int32, from seq: Int64) -> Int {
        guard let rows = ready[track] else { return 0 }
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].seq < seq { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The index of the row with a seq.
    private func index(_ track: Int32, of seq: Int64) -> Int? {
        let place = index(track, from: seq)
        guard let rows = ready[track], place < rows.count, rows[place].seq == seq else { return nil }
        return place
    }

    private func place(_ row: Row) {
        var row = row
        row.visibleSince = timeline.now
        ready[row.track, default: []].insert(row, at: index(row.track, from: row.seq))
        places[row.track, default: []].append(row.seq)
    }

    private func placeAnew(_ row: Row) {
        lastSeq += 1
        place(Row(seq: lastSeq, job: row.job, track: row.track, attempt: row.attempt))
    }

    private func end(_ job: Int64, _ state: String) {
        if let earlier = jobs[job]?.final { faults.append("job \(job) ended as \(earlier) and again as \(state)") }
        jobs[job]?.final = state
    }

    /// Runs a claim: locks rows and returns their places; nil if the worker is no longer registered.
    func lock(
        worker: Int32, claim: (limit: Int, visits: [KnownTracks.Visit], announced: AnnouncedJob?)
    ) -> [(track: Int32, seq: Int64)]? {
        guard let registered = workers[worker], !registered.hasEnded else { return nil }
        var picked: [(track: Int32, seq: Int64)] = []
        for visit in claim.visits where picked.count < claim.limit {
            guard var rows = ready[visit.track] else { continue }
            var taken = 0
            var index = index(visit.track, from: visit.mark + 1)
            while index < rows.count, taken < Int(visit.cap), picked.count < claim.limit {
                if rows[index].worker == 0 && !rows[index].isLocked {
                    rows[index].isLocked = true
                    picked.append((visit.track, rows[index].seq))
                    taken += 1
                }
                index += 1
            }
            ready[visit.track] = rows
        }
        // The claim of an announced job takes only that job, and only if it needs no preparation.
        if let announced = claim.announced, let first = picked.first,
            let row = ready[first.track]?.first(where: { $0.seq == first.seq }),
            jobs[row.job]?.isRich == true || row.job != announced.id
        {
            _ = take(picked, worker: worker, above: 0, commits: false)
            return []
        }
        return picked
    }

    /// Ends a claim: commits it or rolls it back.
    func take(_ picked: [(track: Int32, seq: Int64)], worker: Int32, above: Int64, commits: Bool) -> [ClaimedJob] {
        lastFence = max(lastFence, above) + 1
        var claimed: [ClaimedJob] = []
        for (track, seq) in picked {
            guard let index = index(track, of: seq), var row = ready[track]?[index]
            else { continue }
            row.isLocked = false
            if commits {
                row.worker = worker
                row.fence = lastFence
                row.attempt += 1
                let lease = Lease(track: track, seq: seq, fence: lastFence, jobID: row.job, attempt: row.attempt)
                let job = jobs[row.job]
                claimed.append(
                    ClaimedJob(
                        lease: lease, call: job?.isRich == true ? nil : HTTPCall(url: "http://h/"),
                        isAtMostOnce: job?.isAtMostOnce ?? false, okStatuses: .success))
            }
            ready[track]?[index] = row
        }
        return claimed
    }

    /// The result of a preparation. A served job has ended, and a job that was set aside is scheduled again.
    enum Preparation {
        case called, served, setAside
    }

    /// Prepares claimed jobs, and returns the jobs to call. A job may be called although its lease has ended. Then its
    /// finish stores nothing.
    func prepare(_ leases: [(Lease, Preparation)], worker: Int32) -> Set<Int64> {
        var called: Set<Int64> = []
        for (lease, preparation) in leases {
            let place = index(lease.track, of: lease.seq)
            let row = place.flatMap { ready[lease.track]?[$0] }
            guard preparation != .called else {
                called.insert(lease.jobID)
                continue
            }
            guard let place, var row, row.fence == lease.fence, row.worker == worker else { continue }
            ready[lease.track]?.remove(at: place)
            if preparation == .served {
                end(row.job, "s")
            } else {
                row.worker = 0
                row.attempt -= 1
                scheduled.append((timeline.now + 200 * millisecond, row))
            }
        }
        return called
    }

    /// Stores attempts whose lease is valid, and returns their number.
    func finish(_ attempts: [FinishedAttempt], worker: Int32) -> Int {
        var stored = 0
        for attempt in attempts {
            let lease = attempt.lease
            guard
                let index = index(lease.track, of: lease.seq), var row = ready[lease.track]?[index],
                row.fence == lease.fence, row.worker == worker, let job = jobs[row.job]
            else { continue }
            ready[lease.track]?.remove(at: index)
            stored += 1
            row.worker = 0
            switch decided(attempt) {
            case .retryable where row.attempt < job.maxAttempts:
                scheduled.append((timeline.now + UInt64(row.attempt) * 300 * millisecond, row))
            case .progressed, .gainedLittle, .delayed:
                row.attempt -= 1
                scheduled.append((timeline.now + 300 * millisecond, row))
            case .handedBack, .onward, .unprepared:
                row.attempt -= 1
                scheduled.append((timeline.now, row))
            case .held:
                row.attempt -= 1
                place(row)
            case .succeeded, .failed, .unknown, .retryable:
                end(row.job, String(attempt.verdict.kind.letter))
            }
        }
        return stored
    }

    func enlist(old: Int32, held: [Lease]) -> (worker: Int32, held: Set<Int64>) {
        lastWorker += 1
        workers[lastWorker] = Registered(heartbeat: timeline.now)
        guard old > 0 else { return (lastWorker, []) }
        workers[old]?.hasEnded = true
        idle.remove(old)
        var kept: Set<Int64> = []
        let wanted = Set(held.map(\.seq))
        for track in ready.keys.sorted() {
            for row in ready[track] ?? [] where row.worker == old {
                guard let index = index(track, of: row.seq) else { continue }
                if wanted.contains(row.seq) {
                    ready[track]?[index].worker = lastWorker
                    kept.insert(row.seq)
                } else {
                    ready[track]?.remove(at: index)
                    var unused = row
                    unused.attempt -= 1
                    placeAnew(unused)
                    if !idle.isEmpty { _ = notify(.unnamed) }
                }
            }
        }
        return (lastWorker, kept)
    }

    func beat(_ worker: Int32) -> Bool {
        guard workers[worker]?.hasEnded == false else { return false }
        workers[worker]?.heartbeat = timeline.now
        return true
    }

    /// The leader's duty once a second: it declares workers lost that were silent for 10 s.
    func reap() {
        for (id, registered) in workers where !registered.hasEnded && registered.heartbeat + 10 * second < timeline.now
        {
            workers[id]?.hasEnded = true
            idle.remove(id)
            for track in ready.keys.sorted() {
                for row in ready[track] ?? [] where row.worker == id {
                    ready[track]?.removeAll { $0.seq == row.seq }
                    guard let job = jobs[row.job] else { continue }
                    if job.isAtMostOnce {
                        end(row.job, "u")
                    } else if row.attempt >= job.maxAttempts {
                        end(row.job, "f")
                    } else {
                        placeAnew(row)
                    }
                }
            }
            if !idle.isEmpty { _ = notify(.unnamed) }
        }
    }

    /// The leader's duty every 100 ms: due jobs become ready with a new seq.
    func promote() {
        let due = scheduled.filter { $0.at <= timeline.now }
        guard !due.isEmpty else { return }
        scheduled.removeAll { $0.at <= timeline.now }
        for (_, row) in due { placeAnew(row) }
        if !idle.isEmpty { _ = notify(.unnamed) }
    }

    /// Cancels a job, running or not, as a user does.
    func cancel(_ id: Int64) {
        guard jobs[id]?.committedAt != nil, jobs[id]?.final == nil else { return }
        for track in ready.keys.sorted() {
            guard let index = ready[track]?.firstIndex(where: { $0.job == id && !$0.isLocked }),
                let row = ready[track]?.remove(at: index)
            else { continue }
            end(id, "c")
            if row.worker > 0 { abort(row.worker, id, row.fence) }
            return
        }
    }
}
