// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import PGClient

extension StoreCalls {
    /// `report_calls`: the changes in the long calls of a worker.
    ///
    /// - Parameter now: the time by the clock of the calls' times.
    public static func reportCalls(
        worker: Int32, isWhole: Bool, _ calls: [RunningCall], gone: [Int64], now: UInt64,
        into parameters: inout PGParameters
    ) {
        var tracks = PGArrayBuilder<Int32>()
        var attempts = PGArrayBuilder<Int32>()
        var deadlines = PGArrayBuilder<Int64>()
        var totals = PGArrayBuilder<Int64>()
        for call in calls {
            tracks.append(call.lease.track)
            attempts.append(call.lease.attempt)
            if let deadline = call.deadline {
                deadlines.append(Int64(deadline / 1_000_000) - Int64(now / 1_000_000))
            } else {
                deadlines.appendNull()
            }
            if let total = call.total { totals.append(total) } else { totals.appendNull() }
        }
        parameters.removeAll()
        parameters.append(int32: worker)
        parameters.append(bool: isWhole)
        parameters.append(int64s: gone)
        parameters.append(int64s: calls.map(\.lease.jobID))
        parameters.append(int64s: calls.map(\.lease.fence))
        parameters.append(array: tracks)
        parameters.append(int64s: calls.map(\.lease.seq))
        parameters.append(array: attempts)
        parameters.append(texts: calls.map(\.phase.rawValue))
        parameters.append(int64s: calls.map { Int64((now - min(now, $0.since)) / 1_000_000) })
        parameters.append(array: deadlines)
        parameters.append(int64s: calls.map(\.done))
        parameters.append(array: totals)
    }
}
