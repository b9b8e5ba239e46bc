// SPDX-License-Identifier: Apache-2.0

import PGClient
import Synchronization
import TestSupport

/// The calls of the victim's jobs that the server has received.
final class CallLedger: Sendable {
    struct Call {
        let serial: Int
        let arrivedAt: Double
    }

    private struct State {
        var calls: [String: [Call]] = [:]
        var count = 0
        var pathsByKey: [String: String] = [:]
        var repeatedKeys: [String] = []
    }
    private let state = Mutex(State())

    /// Records a call and returns its number.
    func note(_ request: TargetRequest) -> Int {
        state.withLock { state in
            state.count += 1
            state.calls[request.path, default: []].append(
                Call(serial: state.count, arrivedAt: IsolationLog.wallTime))
            if let key = request.header("idempotency-key") {
                if let other = state.pathsByKey[key], other != request.path {
                    state.repeatedKeys.append("\(key): \(other) and \(request.path)")
                }
                state.pathsByKey[key] = request.path
            }
            return state.count
        }
    }

    func calls(_ path: String) -> [Call] { state.withLock { $0.calls[path] ?? [] } }

    /// The number of calls whose path begins with `prefix`.
    func count(_ prefix: String) -> Int {
        state.withLock { state in state.calls.reduce(0) { $1.key.hasPrefix(prefix) ? $0 + $1.value.count : $0 } }
    }

    var repeatedKeys: [String] { state.withLock { $0.repeatedKeys } }
}

/// The victim's jobs of one phase. The database is restored once in the middle of the phase.
struct IsolationPhase {
    /// The victim's jobs in the backup, by path.
    struct Kept {
        var claimed: Set<String> = []
        var ended: Set<String> = []
        var open: Set<String> = []
    }

    /// The times of the backup and of its restore, in seconds since 1970.
    struct Restore {
        var saved: ClosedRange<Double>
        var restored: ClosedRange<Double>
        var kept: Kept
    }

    let number: Int
    /// Jobs whose INSERT was confirmed, with the times of the statement.
    private(set) var confirmed: [(path: String, at: ClosedRange<Double>)] = []

    init(_ number: Int) {
        self.number = number
    }

    var tag: String { "victim \(number)" }

    /// The beginning of all paths in this phase.
    var root: String { "/victim/\(number)/" }

    mutating func confirm(_ paths: [String], at times: ClosedRange<Double>) {
        confirmed += paths.map { ($0, times) }
    }

    /// The state in the backup, read before workers see it.
    static func kept(_ connection: borrowing PGConnection, _ url: String, _ root: String) throws -> Kept {
        let rows = try connection.query(
            """
            select replace(j.url, '\(url)', ''),
              case when r.job_id is not null or o.job_id is not null then 'ended' when y.job_id is not null
                then 'claimed' else 'open' end
            from postrider.jobs j
            left join postrider_internal.results r on r.job_id = j.id
            left join postrider_internal.outcomes o on o.job_id = j.id
            left join postrider_internal.ready y on y.job_id = j.id and y.worker > 0
            where j.url like '\(url)\(root)%'
            """)
        var kept = Kept()
        for row in 0..<rows.rowCount {
            let path = rows.text(row, 0)
            switch rows.text(row, 1) {
            case "ended": kept.ended.insert(path)
            case "claimed": kept.claimed.insert(path)
            default: kept.open.insert(path)
            }
        }
        return kept
    }

    /// A job in the database at the end of the phase.
    struct Row {
        var path: String
        var isOnce: Bool
        var state: String
        var words: String
        var attempts: Int
        /// The first attempt since the restore.
        var firstSince: Double?
        /// The number of the call whose answer is stored, and the path of this call.
        var serial: Int?
        var answeredPath: String?
    }

    /// The jobs of this phase in the database. All of them have ended.
    func rows(_ connection: borrowing PGConnection, _ url: String, since restored: Double) throws -> [Row] {
        let rows = try connection.query(
            """
            select replace(s.url, '\(url)', ''), (j.delivery = 'at_most_once')::text, s.state,
              coalesce(s.error_code || ': ' || s.error, ''), t.count, t.first::text, (s.result ->> 'serial'), (s.result ->> 'path')
            from postrider.job_status s join postrider.jobs j on j.id = s.id
            cross join lateral (
              select count(*) as count,
                     min(extract(epoch from a.started_at)) filter (where extract(epoch from a.started_at)
                                                                   > \(restored)) as first
                from postrider.attempts a where a.job_id = s.id) t
            where s.tag = '\(tag)' and s.kind = 'request'
            """)
        return (0..<rows.rowCount).map { row in
            Row(
                path: rows.text(row, 0), isOnce: rows.text(row, 1) == "true", state: rows.text(row, 2),
                words: rows.text(row, 3), attempts: Int(rows.int64(row, 4)),
                firstSince: rows.optionalText(row, 5).flatMap { Double($0) },
                serial: rows.optionalText(row, 6).flatMap { Int($0) }, answeredPath: rows.optionalText(row, 7))
        }
    }

    /// Chains that have not succeeded.
    static func chainDefects(_ connection: borrowing PGConnection, _ tag: String) throws -> [String] {
        let rows = try connection.query(
            """
            select s.id || ': ' || s.state || coalesce(' ' || s.error_code, '') from postrider.job_status s
             where s.tag = '\(tag)' and s.kind = 'chain' and s.state <> 'succeeded'
            """)
        return (0..<rows.rowCount).map { "chain \(rows.text($0, 0))" }
    }

    /// Seconds from INSERT to end of plain jobs.
    ///
    /// Jobs that were inserted within `times`, or were unfinished in the backup, do not count.
    func waits(
        _ connection: borrowing PGConnection, _ url: String, outside times: [ClosedRange<Double>], _ kept: Kept
    ) throws -> [Double] {
        let rows = try connection.query(
            """
            select extract(epoch from created_at)::float8, extract(epoch from finished_at)::float8,
                   replace(url, '\(url)', '')
            from postrider.job_status where tag = '\(tag)' and method = 'GET' and kind = 'request' and parent_id is null
            """)
        return (0..<rows.rowCount).compactMap { row in
            let created = rows.float8(row, 0)
            let path = rows.text(row, 2)
            let isMeasured =
                !kept.open.contains(path) && !kept.claimed.contains(path) && !times.contains { $0.contains(created) }
            return isMeasured ? rows.float8(row, 1) - created : nil
        }
    }

    /// The defects of the jobs of this phase.
    func defects(_ rows: [Row], _ ledger: CallLedger, _ restore: Restore) -> [String] {
        var found = rows.flatMap { row in
            Self.defects(row, ledger.calls(row.path), restore).map { "\(row.path): \($0)" }
        }
        let there = Set(rows.map(\.path))
        for (path, times) in confirmed where !there.contains(path) {
            if times.upperBound < restore.saved.lowerBound || times.lowerBound > restore.restored.upperBound {
                found.append("\(path): lost")
            }
        }
        // Jobs that the restore has removed.
        for (path, _) in confirmed where !there.contains(path) && path.contains("/once/") {
            let calls = ledger.calls(path).count
            if calls > 1 { found.append("\(path): \(calls) calls before the restore") }
        }
        return found
    }

    private static func defects(_ row: Row, _ calls: [CallLedger.Call], _ restore: Restore) -> [String] {
        var found: [String] = []
        let isClaimed = restore.kept.claimed.contains(row.path)
        let isOpen = restore.kept.open.contains(row.path)
        let expected = isClaimed && row.isOnce ? "unknown" : "succeeded"
        if row.state != expected { found.append("\(row.state) instead of \(expected), \(row.words)") }
        if row.state == "succeeded" {
            if row.answeredPath != row.path { found.append("has the answer to \(row.answeredPath ?? "nothing")") }
            if row.serial != calls.last?.serial { found.append("has the answer to an earlier call") }
        }
        // A job that was open in the backup may have been called after the backup. The restore has removed the row of
        // such a call.
        let since = isOpen ? row.firstSince ?? 0 : 0
        let explained = calls.count { $0.arrivedAt >= since }
        if explained > row.attempts { found.append("\(explained) calls, \(row.attempts) attempts") }
        if row.isOnce {
            let most = isOpen ? 2 : 1
            if explained > 1 || calls.count > most {
                found.append("\(calls.count) calls, \(explained) since the restore")
            }
        }
        return found
    }
}
