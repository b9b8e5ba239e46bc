// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore
internal import Synchronization

/// The counters and histograms of a worker for other threads. The loop counts, and any thread may read.
///
/// The lock is taken once for each batch of attempts. To count an attempt takes 0.13 µs.
public final class WorkerMetrics: Sendable {
    /// The names of tracks are asked for again at this interval: 5 min. So a new row of `lanes` becomes a label.
    static let nameLifetime: UInt64 = 300_000_000_000
    /// The most tracks of one question.
    static let questionLimit = 2_000

    private struct State: Sendable {
        var counters = MetricCounters()
        var namesEnd: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Counters at 0.
    public init() {}

    /// The present values.
    public var counters: MetricCounters { state.withLock { $0.counters } }

    /// Counts attempts that were written.
    ///
    /// - Parameters:
    ///   - done: the seqs of the attempts whose leases held, as `finish` returned them.
    ///   - outcomes: a letter for each of `done`. A missing letter: the leader counts that end.
    func stored(_ attempts: [FinishedAttempt], done: [Int64], outcomes: String) {
        let letters = Array(outcomes.utf8)
        state.withLock { state in
            let attempts = attempts.span
            var next = 0
            for index in attempts.indices {
                // The database returns them in the order of the batch, as long as its plan is a loop over the batch.
                let isNext = next < done.count && done[next] == attempts[index].lease.seq
                let place = isNext ? next : done.firstIndex(of: attempts[index].lease.seq)
                state.counters.stored(
                    attempts[index], letter: place.flatMap { $0 < letters.count ? letters[$0] : nil })
                if let place { next = place + 1 }
            }
        }
    }

    /// Counts jobs that ended without a report to a worker.
    func ended(_ jobs: Int, state name: String, queue: String, service: String) {
        state.withLock { $0.counters.ended(jobs, state: name, queue: queue, service: service) }
    }

    /// The tracks to ask for.
    func tracksToName(now: UInt64) -> [Int32] {
        state.withLock { state in
            if now >= state.namesEnd {
                state.namesEnd = now + WorkerMetrics.nameLifetime
                state.counters.forgetNames()
            }
            return state.counters.unnamedTracks(limit: WorkerMetrics.questionLimit)
        }
    }

    /// Takes the names of the tracks that were asked for.
    func name(_ tracks: [Int32], _ labels: [Int32: StoreCalls.TrackLabels]) {
        state.withLock { $0.counters.name(tracks, labels) }
    }

    /// Drops the names, because another database has other tracks. Ends without a name count as `other`.
    func forgetTracks() {
        state.withLock { state in
            state.counters.name(state.counters.unnamedTracks(limit: .max), [:])
            state.counters.forgetNames()
        }
    }
}
