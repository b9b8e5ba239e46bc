// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// One row of `postrider_internal.watch`: a job, and how far it or what is below it has come.
struct WatchRow: Sendable {
    /// How many trees it stands in; 0 for a root.
    var depth = 0
    /// The job's id.
    var id: Int64 = 0
    /// What it is, for people: `POST http://…`, `chain signup`.
    var title = ""
    /// The word of `job_status`.
    var state = ""
    /// Of a batch or chain: members so far, those that have ended, those of them that failed, those under way.
    var members: (children: Int64, finished: Int64, failed: Int64, active: Int64)?
    /// Of a transfer under way: bytes so far and, if known, in all.
    var bytes: (done: Int64, total: Int64?)?
    /// Its status or error_code, once it has ended.
    var note = ""

    /// Whether the job has ended.
    var isOver: Bool { !["waiting", "scheduled", "ready", "running"].contains(state) }

    /// All of it as one line for a file: `12 chain signup running 3/7, 1 failed`.
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

    /// How much of it is done, 0 to 1; nil if nobody knows.
    var share: Double? {
        if let members { return members.children == 0 ? nil : Double(members.finished) / Double(members.children) }
        guard let bytes, let total = bytes.total, total > 0 else { return nil }
        return min(1, Double(bytes.done) / Double(total))
    }

    /// With one digit behind the point, and no floating point to format it.
    private static func megabytes(_ bytes: Int64) -> String {
        let tenths = bytes / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension WatchRow {
    /// The columns that `read` expects, in their order.
    static let columns =
        "depth::bigint, id, title, state, children, finished, failed, active, bytes_done, bytes_total, coalesce(note, '')"

    /// The row of a result with those columns.
    static func read(_ result: borrowing PGResult, _ row: Int) -> WatchRow {
        var shown = WatchRow()
        shown.depth = Int(result.int64(row, 0))
        shown.id = result.int64(row, 1)
        shown.title = SanitizedText.escape(result.text(row, 2))
        shown.state = result.text(row, 3)
        if !result.isNull(row, 4) {
            shown.members = (result.int64(row, 4), result.int64(row, 5), result.int64(row, 6), result.int64(row, 7))
        }
        if !result.isNull(row, 8) {
            shown.bytes = (result.int64(row, 8), result.isNull(row, 9) ? nil : result.int64(row, 9))
        }
        shown.note = result.text(row, 10)
        return shown
    }
}
