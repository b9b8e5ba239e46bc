// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// A list of jobs, newest first, with its filter form.
struct JobsPage: DashboardPage {
    private let filter: JobFilter
    private let rows: ViewTable.Rows
    private let table: ViewTable

    let title = "Jobs"
    let path = "/jobs"

    private static let usualLimit = 50

    /// Reads the jobs of a filter.
    ///
    /// - Parameter arguments: `state`, `queue`, `tag`, `limit`. An invalid one is ignored, and `PageFilters` reports
    ///   it.
    init(_ arguments: [String: String], _ connection: borrowing PGConnection) throws(PGError) {
        let limit = arguments["limit"].flatMap(Int.init).flatMap { PageFilters.limits.contains($0) ? $0 : nil }
        filter = JobFilter(
            state: arguments["state"].flatMap { JobFilter.states.contains($0) ? $0 : nil },
            queues: arguments["queue"].map { [$0] } ?? [], tag: arguments["tag"], limit: limit ?? JobsPage.usualLimit)
        var parameters = PGParameters()
        table = ViewTable(
            title: "", columns: JobsPage.columns, source: filter.source(&parameters),
            empty: "No job matches these filters.")
        rows = try table.read(connection, parameters)
    }

    func write(to html: inout HTML) {
        html.element("form", ["class": "filter", "action": "/jobs"]) { html in
            html.element("select", ["name": "state", "aria-label": "state"]) { html in
                html.element("option", ["value": ""], "any state")
                for state in JobFilter.states {
                    html.element("option", state == filter.state ? ["selected": ""] : [:], state)
                }
            }
            for (name, value) in [("queue", filter.queues.first), ("tag", filter.tag)] {
                html.open(
                    "input", ["name": name, "value": value ?? "", "placeholder": "any \(name)", "aria-label": name])
            }
            html.open(
                "input",
                [
                    "name": "limit", "type": "number", "min": "\(PageFilters.limits.lowerBound)",
                    "max": "\(PageFilters.limits.upperBound)", "value": "\(filter.limit)", "aria-label": "at most",
                ])
            html.element("button", "Show")
        }
        table.write(rows, to: &html)
        if rows.count == filter.limit {
            html.element("p", ["class": "empty"], "The newest \(filter.limit) jobs; there may be more.")
        }
    }

    /// The columns of a list of jobs.
    static let columns = [
        Column("job", .job, "s.id"), Column("state", .state, "s.state"), Column("queue", .queue, "s.queue"),
        Column("lane", .text, "s.lane"), Column("name", .text, "coalesce(s.name, s.tag)"),
        Column(
            "call", .code,
            "case when s.kind = 'request' then concat_ws(' ', s.method, postrider_internal.url_with_masked_query(s.url, '{}')) else s.kind end"
        ),
        Column("attempt", .number, "nullif(s.attempt, 0)"), Column("status", .number, "s.status_code"),
        Column("error_code", .word, "s.error_code"), Column("created", .moment, "s.created_at"),
        Column("due", .moment, "case when s.finished_at is null then s.run_at end"),
        Column("ended", .moment, "s.finished_at"),
    ]
}
