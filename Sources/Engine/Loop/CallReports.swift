// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The rows that the database has about calls of this worker that take more than a second. Pure.
///
/// Once a second the worker writes the changes. A call that hangs costs one row, however long it hangs.
struct CallReports {
    /// One statement.
    struct Report: Equatable {
        /// All rows of this worker that are not among `changed` are to be deleted.
        var isWhole: Bool
        var changed: [RunningCall]
        /// Jobs whose rows are to be deleted.
        var gone: [Int64]
    }

    /// The calls that the database has rows of, by job.
    private var known: [Int64: RunningCall] = [:]
    /// True if the last statement may have failed, or if the database has lost the rows.
    private var isUncertain = false
    private var hasWritten = false

    /// Whether the database may have rows of this worker.
    var isOpen: Bool { isUncertain || !known.isEmpty }

    /// The changes to write now, nil if nothing has changed. They count as written.
    mutating func report(_ calls: [RunningCall]) -> Report? {
        let isWhole = isUncertain
        let changed = isWhole ? calls : calls.filter { known[$0.lease.jobID] != $0 }
        let jobs = Set(calls.map(\.lease.jobID))
        let gone = isWhole ? [] : known.keys.filter { !jobs.contains($0) }.sorted()
        guard isWhole || !changed.isEmpty || !gone.isEmpty else { return nil }
        isUncertain = false
        hasWritten = true
        known = Dictionary(calls.map { ($0.lease.jobID, $0) }, uniquingKeysWith: { _, last in last })
        return Report(isWhole: isWhole, changed: changed, gone: gone)
    }

    /// Call this when the last statement has failed, its connection is lost, or the worker has another number.
    mutating func forget() { isUncertain = hasWritten }
}
