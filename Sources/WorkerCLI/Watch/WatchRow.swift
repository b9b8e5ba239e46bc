// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// One row of `postrider_internal.watch`: a job, and the progress of it or of the jobs below it.
struct WatchRow: Sendable {
    /// The depth in the tree; 0 for the root.
    var depth = 0
    /// The job's id.
    var id: Int64 = 0
    /// A title for people, such as `POST http://…` or `chain signup`.
    var title = ""
    /// The state, as in `job_status`.
    var state = ""
    /// The counts of a batch or chain: members so far, ended members, failed members, and members under way.
    var members: (children: Int64, finished: Int64, failed: Int64, active: Int64)?
    /// The progress of a running transfer: bytes so far, and in all if known.
    var bytes: (done: Int64, total: Int64?)?
    /// Its status or error_code, once the job has ended.
    var note = ""

    /// Whether the job has ended.
    var isOver: Bool { !["waiting", "scheduled", "ready", "running"].contains(state) }

    /// The row as one line for a file: `12 chain signup running 3/7, 1 failed`.
    var line: String {
        var words = ["\(id)", title, state]
        if let count { words.append(count) }
        if !note.isEmpty { words.append(note) }
        return String(repeating: "  ", count: depth) + words.joined(separator: " ")
    }

    /// The counts in words: `3/7, 1 failed, 2 under way` or `12.3/40.0 MB`.
    var count: String? {
        if let members {
            var text = "\(members.finished)/\(members.children)"
            if members.failed > 0 { text += ", \(members.failed) failed" }
            if members.active > 0 && !isOver { text += ", \(members.active) under way" }
            return text
        }
        guard let bytes else { return nil }
        return bytes.total.map { Self.megabytes(bytes.done) + "/" + Self.megabytes($0) + " MB" }
            ?? Self.megabytes(bytes.done) + " MB"
    }

    /// The finished share, 0 to 1; nil if unknown.
    var share: Double? {
        if let members { return members.children == 0 ? nil : Double(members.finished) / Double(members.children) }
        guard let bytes, let total = bytes.total, total > 0 else { return nil }
        return min(1, Double(bytes.done) / Double(total))
    }

    /// The size in MB with one decimal, without floating-point arithmetic.
    private static func megabytes(_ bytes: Int64) -> String {
        let tenths = bytes / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension WatchRow {
    private enum Column: Int, PGColumn {
        case depth, id, title, state, children, finished, failed, active, bytesDone, bytesTotal, note

        var sql: StaticString {
            switch self {
            case .depth: "depth::bigint as depth"
            case .id: "id"
            case .title: "title"
            case .state: "state"
            case .children: "children"
            case .finished: "finished"
            case .failed: "failed"
            case .active: "active"
            case .bytesDone: "bytes_done"
            case .bytesTotal: "bytes_total"
            case .note: "coalesce(note, '') as note"
            }
        }
    }

    /// The columns that `read` expects.
    static let columns = Column.selectList

    /// Reads one row of a query for `columns`.
    static func read(_ result: borrowing PGResult, _ row: Int) -> WatchRow {
        var shown = WatchRow()
        shown.depth = Int(result.int64(row, Column.depth))
        shown.id = result.int64(row, Column.id)
        shown.title = SanitizedText.escape(result.text(row, Column.title))
        shown.state = result.text(row, Column.state)
        if !result.isNull(row, Column.children) {
            shown.members = (
                result.int64(row, Column.children), result.int64(row, Column.finished),
                result.int64(row, Column.failed), result.int64(row, Column.active)
            )
        }
        if !result.isNull(row, Column.bytesDone) {
            shown.bytes = (
                result.int64(row, Column.bytesDone), result.optionalInt64(row, Column.bytesTotal)
            )
        }
        shown.note = result.text(row, Column.note)
        return shown
    }
}
