// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The members of a batch or chain in their order, page by page.
struct MembersPage: DashboardPage {
    private let id: Int64
    private let head: JobHead?
    private let rows: ViewTable.Rows
    /// The first position of the page before; nil: this is the first page.
    private let before: Int32?
    private let acts: Bool

    let path = "/jobs"

    private static let rowsOnPage = 100

    private enum StartColumn: Int, PGColumn {
        case count, start

        var sql: StaticString {
            switch self {
            case .count: "count(*) as count"
            case .start: "coalesce(min(m.position), 0) as start"
            }
        }
    }

    /// Reads the members from a position on.
    init(
        _ id: Int64, from position: Int32, acts: Bool, _ connection: borrowing PGConnection
    ) throws(PGError) {
        self.id = id
        self.acts = acts
        head = try JobHead.read(id, connection)
        guard let head, !head.isRequest else {
            (rows, before) = ([], nil)
            return
        }
        var parameters = PGParameters()
        parameters.append(int64: id)
        parameters.append(int32: position)
        let start = try connection.query(
            """
            select \(StartColumn.selectList) from (
              select m.position from postrider_internal.members m where m.parent_id = $1 and m.position < $2
               order by m.position desc limit \(MembersPage.rowsOnPage)) m
            """, &parameters)
        before = start.int64(0, StartColumn.count) > 0 ? start.int32(0, StartColumn.start) : nil
        var again = PGParameters()
        again.append(int64: id)
        again.append(int32: position)
        rows = try MembersPage.table.read(connection, again)
    }

    var title: String { head.map { "Members of \($0.kind) \(id)" } ?? "Members of job \(id)" }
    var status: UInt32 { head?.isRequest == false ? 200 : 404 }
    var isLive: Bool { head?.hasEnded == false }

    func write(to html: inout HTML) {
        guard let head else {
            return html.element("p", "There is no job \(id). It never existed, or was deleted after its retention.")
        }
        guard !head.isRequest else {
            return html.element("p") { html in
                html.element("a", ["href": "/jobs/\(id)"], "Job \(id)")
                html.text(" is a request, which has no members.")
            }
        }
        html.element("p", ["class": "headline"]) { html in
            html.element("span", ["class": "state \(head.state)"], head.state)
            html.element("a", ["href": "/jobs/\(id)"], "\(head.kind) \(id)")
            if let progress = head.progress {
                progress.write(to: &html)
                html.element("span", ["class": "note"], progress.words)
            }
        }
        let shown = Array(rows.prefix(MembersPage.rowsOnPage))
        if acts {
            TickForm(jobs: shown, MembersPage.table).write(to: &html)
        } else {
            MembersPage.table.write(shown, to: &html)
        }
        html.element("p", ["class": "pager"]) { html in
            if let before { html.element("a", ["href": "/jobs/\(id)/members/\(before)"], "Earlier members") }
            if rows.count > MembersPage.rowsOnPage, let next = rows.last?[0] {
                html.element("a", ["href": "/jobs/\(id)/members/\(next)"], "Later members")
            }
        }
    }

    private static let table = ViewTable(
        title: "",
        columns: [
            Column("position", .number, "s.position"), Column("job", .job, "s.id"), Column("state", .state, "s.state"),
            Column("name", .text, "s.name"),
            Column(
                "call", .code,
                "case when s.kind = 'request' then concat_ws(' ', s.method, postrider_internal.url_with_masked_query(s.url, '{}')) else s.kind end"
            ),
            Column(
                "members", .text,
                "s.children_finished || ' of ' || s.children || ' ended' || case when s.children_failed > 0 then ', ' || s.children_failed || ' failed' else '' end"
            ),
            Column("attempt", .number, "nullif(s.attempt, 0)"), Column("status", .number, "s.status_code"),
            Column("error_code", .word, "s.error_code"), Column("duration", .span, "s.elapsed"),
            Column("ended", .moment, "s.finished_at"),
        ],
        // The members are selected first. Otherwise `job_status` would be computed for all of them before the limit
        // applies. One row more than is shown leads to the next page.
        source: """
            from postrider.job_status s
            where s.id = any (array(
              select m.job_id from postrider_internal.members m where m.parent_id = $1 and m.position >= $2
                order by m.position limit \(rowsOnPage + 1)))
            order by s.position
            """, empty: "No member stands here.")
}
