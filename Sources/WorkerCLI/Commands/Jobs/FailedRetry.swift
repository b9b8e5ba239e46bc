// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient
internal import Reactor

/// `worker retry --failed`: finds the failed jobs of a filter, asks, and runs them again in steps.
enum FailedRetry {
    /// The most jobs of one step. A step is one transaction, so it bounds how long rows are locked.
    private static let stepSize = 1_000

    /// The failed jobs of a filter.
    private struct Found {
        /// Their ids in ascending order.
        var ids: [Int64]
        /// When they were found, as text. Jobs that fail later stay as they are.
        var time: String
    }

    private enum FoundColumn: Int, PGColumn {
        case ids, time

        var sql: StaticString {
            switch self {
            case .ids:
                """
                postrider_internal.find_failed_jobs(
                  p_queues => nullif($1, '{}'), p_lane => $2, p_service => $3, p_operation => $4, p_tag => $5,
                  p_error_code => $6, p_since => $7::timestamptz, p_until => $8::timestamptz) as ids
                """
            case .time: "clock_timestamp()::text as time"
            }
        }
    }

    static func run(_ arguments: Arguments) throws(CommandError) -> ExitCode {
        let connection = try Database.open(arguments)
        let filter = try JobFilterFlags.filter(arguments, state: "failed", limit: stepSize, connection)
        let found: Found
        do throws(PGError) {
            found = try find(filter, connection)
        } catch {
            throw Database.failure(error)
        }
        let jobs = found.ids.count == 1 ? "1 failed job matches" : "\(found.ids.count) failed jobs match"
        if !arguments.isOn("yes") {
            guard Confirmation.canAsk else {
                throw .usage("retry --failed", jobs, "without a terminal, give --yes to run them again")
            }
            if !found.ids.isEmpty, try !Confirmation.ask("\(jobs). Run again?") {
                Terminal.write("nothing was retried\n")
                return .failed
            }
        }
        let signals = try EndSignals.take()
        do throws(PGError) {
            return try retry(found, connection, signals)
        } catch {
            throw Database.failure(error)
        }
    }

    private static func find(
        _ filter: JobFilter, _ connection: borrowing PGConnection
    ) throws(PGError) -> Found {
        var parameters = PGParameters()
        parameters.append(texts: filter.queues)
        for text in [
            filter.lane, filter.service, filter.operation, filter.tag, filter.errorCode, filter.since, filter.until,
        ] {
            parameters.append(text: text)
        }
        let result = try connection.query("select \(FoundColumn.selectList)", &parameters)
        return Found(ids: result.int64s(0, FoundColumn.ids), time: result.text(0, FoundColumn.time))
    }

    /// Runs the jobs again, step by step, until a signal.
    private static func retry(
        _ found: Found, _ connection: borrowing PGConnection, _ signals: borrowing SignalSource
    ) throws(PGError) -> ExitCode {
        let showsProgress = Terminal.isTerminal(.error) && found.ids.count > stepSize
        var retried: Int64 = 0
        var done = 0
        var isStopped = false
        while done < found.ids.count && !isStopped {
            let step = Array(found.ids[done..<min(done + stepSize, found.ids.count)])
            var parameters = PGParameters()
            parameters.append(int64s: step)
            parameters.append(text: found.time)
            retried += try connection.query(
                "select postrider_internal.retry_failed_step($1, $2::timestamptz) as value", &parameters
            ).int64(0, PGValueColumn.value)
            done += step.count
            if showsProgress { Terminal.write("\r\(done) of \(found.ids.count) done", to: .error) }
            isStopped = !signals.read().isEmpty
        }
        if showsProgress { Terminal.write("\n", to: .error) }
        isStopped = isStopped && done < found.ids.count
        Terminal.write(summary(retried, of: found.ids.count, done: isStopped ? done : nil) + "\n")
        return isStopped ? .failed : .clean
    }

    /// The line at the end, such as `2 of 3 failed jobs run again; a batch or chain counts once`.
    ///
    /// - Parameter done: how many jobs were handled before a signal stopped the command; nil: all.
    static func summary(_ retried: Int64, of found: Int, done: Int?) -> String {
        if found == 0 { return "no failed job matches" }
        var line = "\(retried) of \(found) failed \(found == 1 ? "job runs" : "jobs run") again"
        if retried < done ?? found { line += "; the others cannot, or run with their batch or chain" }
        if let done { line += "; stopped by a signal after \(done)" }
        return line
    }
}
