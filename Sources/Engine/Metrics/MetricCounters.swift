// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

/// The counters and histograms of one worker since its start. Pure.
///
/// An attempt knows its track by number only. The ends of a track without a name wait here until the name arrives, about
/// a second later.
public struct MetricCounters: Sendable {
    /// The labels of one time series as one number, because that is hashed fastest.
    private struct Series: Hashable, Sendable {
        private let code: UInt64

        init(_ first: UInt16, _ second: UInt16, _ last: UInt8) {
            code = UInt64(first) << 32 | UInt64(second) << 16 | UInt64(last)
        }

        var first: UInt16 { UInt16(truncatingIfNeeded: code >> 32) }
        var second: UInt16 { UInt16(truncatingIfNeeded: code >> 16) }
        var last: UInt8 { UInt8(truncatingIfNeeded: code) }
    }

    /// The labels of a track. Without a row of `lanes` the service of the job is its lane group.
    private struct Name: Sendable {
        var queue: UInt16
        var laneGroup: UInt16?
    }

    /// The ends of a track without a name.
    private struct Unnamed: Sendable {
        var ends: [End: Int] = [:]
        var waits = Histogram(Histogram.waits)
    }

    /// An attempt's service, and the letter of its end.
    private struct End: Hashable, Sendable {
        var service: UInt16
        var letter: UInt8
    }

    /// The most time series of one counter. Combinations above it count as `other`.
    private static let seriesLimit = 2_000
    /// The most tracks with a name: they take some MB. Above it all names are dropped and asked for again.
    private static let nameLimit = 100_000

    private var queues = LabelValues()
    private var services = LabelValues()
    private var laneGroups = LabelValues()
    private var names: [Int32: Name] = [:]
    private var unnamed: [Int32: Unnamed] = [:]
    private var finished: [Series: Int] = [:]
    private var attempts: [Series: Int] = [:]
    private var waits: [UInt16: Histogram] = [:]
    private var calls: [Series: Histogram] = [:]
    /// The number of the empty service.
    private let noService: UInt16

    /// Counters at 0.
    init() { noService = services.number(of: "") }

    // MARK: events

    /// Counts an attempt that was written.
    ///
    /// - Parameter letter: how it ended. Nil if its lease had ended, so that only its call counts.
    mutating func stored(_ attempt: FinishedAttempt, letter: UInt8?) {
        let service = attempt.service.map { services.number(of: $0) } ?? noService
        if let outcome = attempt.outcome {
            let series = Series(service, 0, AnswerClass(outcome).rawValue)
            calls[series, default: Histogram(Histogram.calls)].observe(outcome.timings.total)
        }
        guard let letter, AttemptEnd(letter: letter) != nil else { return }
        let end = End(service: service, letter: letter)
        let wait = "sfur".utf8.contains(letter) ? attempt.waited : nil
        if let name = names[attempt.lease.track] {
            count(end, 1, name)
            if let wait { waits[name.queue, default: Histogram(Histogram.waits)].observe(wait) }
        } else {
            unnamed[attempt.lease.track, default: Unnamed()].ends[end, default: 0] += 1
            if let wait { unnamed[attempt.lease.track]?.waits.observe(wait) }
        }
    }

    /// Counts jobs that ended without a report to a worker. The leader does so.
    mutating func ended(_ jobs: Int, state: String, queue: String, service: String) {
        guard let state = FinalState(name: state) else { return }
        let series = Series(queues.number(of: queue), services.number(of: service), state.rawValue)
        MetricCounters.add(jobs, to: &finished, series)
    }

    private mutating func count(_ end: End, _ number: Int, _ name: Name) {
        let laneGroup =
            name.laneGroup
            ?? (end.service == noService
                ? LabelValues.other : laneGroups.number(of: services.name(end.service)))
        if let outcome = AttemptEnd(letter: end.letter) {
            let series = Series(end.service, laneGroup, outcome.rawValue)
            MetricCounters.add(number, to: &attempts, series)
        }
        if let state = FinalState(letter: end.letter) {
            let series = Series(name.queue, end.service, state.rawValue)
            MetricCounters.add(number, to: &finished, series)
        }
    }

    private static func add(_ number: Int, to counts: inout [Series: Int], _ series: Series) {
        if counts.count >= seriesLimit, counts[series] == nil {
            let rest = Series(LabelValues.other, LabelValues.other, series.last)
            counts[rest, default: 0] += number
        } else {
            counts[series, default: 0] += number
        }
    }

    // MARK: names of tracks

    /// Some tracks whose names are needed.
    func unnamedTracks(limit: Int) -> [Int32] { Array(unnamed.keys.prefix(limit)) }

    /// Names tracks, and counts their ends. Tracks that do not exist any longer count as `other`.
    mutating func name(_ tracks: [Int32], _ labels: [Int32: StoreCalls.TrackLabels]) {
        if names.count > MetricCounters.nameLimit { forgetNames() }
        for track in tracks {
            let label = labels[track]
            let name = Name(
                queue: label.map { queues.number(of: $0.queue) } ?? LabelValues.other,
                laneGroup: label?.laneGroup.map { laneGroups.number(of: $0) })
            if label != nil { names[track] = name }
            guard let waiting = unnamed.removeValue(forKey: track) else { continue }
            for (end, number) in waiting.ends { count(end, number, name) }
            if waiting.waits.count > 0 {
                waits[name.queue, default: Histogram(Histogram.waits)].add(waiting.waits)
            }
        }
    }

    /// Asks for all names again, since the rows of `lanes` may have changed.
    mutating func forgetNames() { names = [:] }

    // MARK: values

    /// Jobs that ended.
    public var finishedJobs: [(queue: String, service: String, state: String, jobs: Int)] {
        finished.map {
            (
                queue: queues.name($0.first), service: services.name($0.second),
                state: "\(FinalState.allCases[Int($0.last)])", jobs: $1
            )
        }.sorted { ($0.queue, $0.service, $0.state) < ($1.queue, $1.service, $1.state) }
    }

    /// Attempts that ended.
    public var endedAttempts: [(service: String, laneGroup: String, outcome: String, attempts: Int)] {
        attempts.map {
            (
                service: services.name($0.first), laneGroup: laneGroups.name($0.second),
                outcome: "\(AttemptEnd.allCases[Int($0.last)])", attempts: $1
            )
        }.sorted { ($0.service, $0.laneGroup, $0.outcome) < ($1.service, $1.laneGroup, $1.outcome) }
    }

    /// The durations of calls, by the class of their status; `none`: no complete answer.
    public var callDurations: [(service: String, answer: String, durations: Histogram)] {
        calls.map {
            (service: services.name($0.first), answer: AnswerClass.allCases[Int($0.last)].label, durations: $1)
        }.sorted { ($0.service, $0.answer) < ($1.service, $1.answer) }
    }

    /// The waits from the time a job was due to its first attempt.
    public var firstWaits: [(queue: String, durations: Histogram)] {
        waits.map { (queue: queues.name($0), durations: $1) }.sorted { $0.queue < $1.queue }
    }
}
