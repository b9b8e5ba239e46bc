// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// One job: its state and the reason for it, request, answer, attempts and its place in a tree.
struct JobPage: DashboardPage {
    private let id: Int64
    private let acts: Bool
    private let parts: Parts?

    /// All that is read about an existing job.
    private struct Parts: Sendable {
        var head: JobHead
        /// The values of `JobFacts.columns`, in the same order.
        var facts: [String?]
        /// The sentence of `postrider.explain`: why the job is in its state.
        var why: String?
        var tree: JobTree
        var attempts: JobAttempts
        var request: JobRequestPart?
        var answer: JobAnswer?
        var tables: [(table: ViewTable, rows: ViewTable.Rows)]
        var copies: JobCopies
    }

    let path = "/jobs"

    /// Reads the job and its related rows.
    ///
    /// - Parameter acts: whether links to acts are shown.
    init(_ id: Int64, _ connection: borrowing PGConnection, acts: Bool = false) throws(PGError) {
        self.id = id
        self.acts = acts
        guard let head = try JobHead.read(id, connection) else {
            parts = nil
            return
        }
        var parameters = PGParameters()
        parameters.append(int64: id)
        let why = try connection.query("select postrider.explain($1) as value", &parameters)
            .optionalText(0, PGValueColumn.value)
        var tables: [(table: ViewTable, rows: ViewTable.Rows)] = []
        for table in JobPage.tables {
            var parameters = PGParameters()
            parameters.append(int64: id)
            let rows = try table.read(connection, parameters)
            if !rows.isEmpty { tables.append((table, rows)) }
        }
        let request = head.isRequest ? try JobRequestPart(id, connection) : nil
        parts = Parts(
            head: head, facts: try JobFacts.read(id, connection), why: why, tree: try JobTree(head, connection),
            attempts: try JobAttempts(id, connection), request: request, answer: try JobAnswer.read(id, connection),
            tables: tables,
            copies: try JobCopies(
                head, curl: request?.curl, hasLargeBody: request?.isLarge ?? false, connection))
    }

    var title: String { "Job \(id)" }
    var status: UInt32 { parts == nil ? 404 : 200 }
    var isLive: Bool { parts.map { !$0.head.hasEnded } ?? false }

    func write(to html: inout HTML) {
        guard let parts else {
            html.element("p", "There is no job \(id). It never existed, or was deleted after its retention.")
            return
        }
        parts.head.write(to: &html)
        if let why = parts.why { html.element("p", ["class": "why"], why) }
        if acts { html.actions(parts.head.actions) }
        JobFacts.write(parts.facts, to: &html)
        parts.tree.write(to: &html)
        // The answer of a failed job has the reason, so it stands before the picture of the attempts.
        let isFailure = FailuresPage.states.contains(parts.head.state)
        if !isFailure { parts.attempts.write(to: &html) }
        html.element("div", ["class": "exchange"]) { html in
            parts.request?.write(to: &html)
            parts.answer?.write(to: &html)
        }
        if isFailure { parts.attempts.write(to: &html) }
        for (table, rows) in parts.tables { table.write(rows, to: &html) }
        parts.copies.write(to: &html)
    }

    private static let tables = [
        ViewTable(
            title: "Pages",
            columns: [
                Column("page", .number, "page"),
                Column("url", .code, "postrider_internal.url_with_masked_query(url, '{}')"),
                Column("status", .number, "status_code"),
                Column("items", .number, "item_count"),
                Column("next", .code, "postrider_internal.url_with_masked_query(next, '{}')"),
                Column("fetched", .moment, "fetched_at"),
            ],
            source: "from postrider.pages where job_id = $1 order by page", limit: 200),
        ViewTable(
            title: "Callbacks that failed",
            columns: [
                Column("event", .text, "event"), Column("callback", .text, "callback"),
                Column("function", .code, "function"), Column("at", .moment, "failed_at"),
                Column("sqlstate", .code, "sqlstate"), Column("error", .text, "error"),
            ],
            source: "from postrider.callback_errors where job_id = $1 order by failed_at desc", limit: 50),
    ]
}
