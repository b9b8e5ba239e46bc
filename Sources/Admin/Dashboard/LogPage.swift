// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The acts of admins, newest first.
struct LogPage: DashboardPage {
    private let filters: PageFilters
    private let rows: ViewTable.Rows
    private let acts: Bool

    let title = "Log"
    let path = "/log"

    private static let limit = 100

    init(_ filters: PageFilters, acts: Bool, _ connection: borrowing PGConnection) throws(PGError) {
        self.filters = filters
        self.acts = acts
        var parameters = PGParameters()
        parameters.append(int64: filters["before"].flatMap(Int64.init) ?? Int64.max)
        rows = try LogPage.table(acts: acts).read(connection, parameters)
    }

    private static func table(acts: Bool) -> ViewTable {
        ViewTable(
            title: "",
            columns: [
                Column("id", .number, "id"), Column("at", .instant, "at"), Column("actor", .text, "actor"),
                Column("action", .word, "action"), Column("target", .code, "left(target::text, 1000)"),
                Column("objects", .number, "count"),
            ],
            source: "from postrider.admin_log where id < $1 order by id desc", limit: limit,
            empty: acts
                ? "No admin has acted yet."
                : "No admin has acted yet. Acts need a worker with a token and this flag:",
            example: acts ? nil : "worker run --http 127.0.0.1:9464 --http-token-file token --http-actions")
    }

    func write(to html: inout HTML) {
        html.element("p", ["class": "question"], "Who did what in the dashboard?")
        LogPage.table(acts: acts).write(rows, to: &html)
        guard rows.count > LogPage.limit, let last = rows[LogPage.limit - 1][0] else { return }
        html.element("p", ["class": "paging"]) { html in
            html.element("a", ["href": Column.link("/log", [("before", last)]), "rel": "next"], "Older acts")
        }
    }
}
