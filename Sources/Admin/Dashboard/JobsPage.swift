// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore
internal import PGClient

/// A list of jobs, newest first, with its filter form.
struct JobsPage: DashboardPage {
    private let filters: PageFilters
    private let limit: Int
    private let rows: ViewTable.Rows
    private let table: ViewTable
    /// See `JobSearch`.
    private let reached: Int64?
    private let bar: FilterBar
    private let acts: Bool

    let title = "Jobs"
    let path = "/jobs"

    private static let usualLimit = 50
    /// How many rows of an index one search looks at. It takes up to 0.1 s with ten million jobs.
    private static let window = 10_000

    /// Reads the jobs of a filter.
    init(_ filters: PageFilters, acts: Bool, _ connection: borrowing PGConnection) throws(PGError) {
        self.filters = filters
        self.acts = acts
        limit = filters["limit"].flatMap(Int.init) ?? JobsPage.usualLimit
        let found = try filters.jobFilter(limit: limit).search(connection, window: JobsPage.window)
        reached = found.reached
        var parameters = PGParameters()
        parameters.append(int64s: found.ids)
        let isFiltered = !filters.values.isEmpty
        table = ViewTable(
            title: "", columns: JobsPage.columns,
            source: "from postrider.job_status s where s.id = any ($1) order by s.id desc",
            empty: isFiltered || found.reached != nil
                ? "No job matches these filters." : "There is no job yet. Insert one:",
            example: isFiltered ? nil : JobsPage.example)
        rows = try table.read(connection, parameters)
        bar = try JobsPage.bar("/jobs", shown: 7, filters, states: JobFilter.states, hasLimit: true, connection)
    }

    func write(to html: inout HTML) {
        bar.write(to: &html)
        guard acts && !rows.isEmpty else {
            table.write(rows, to: &html)
            return writePaging(to: &html)
        }
        html.actions(links)
        TickForm(jobs: rows, table).write(to: &html)
        writePaging(to: &html)
    }

    /// The acts on all jobs of the present filter.
    private var links: [ActionLink] {
        let target = filters.ofJobs
        guard !target.isEmpty else { return [] }
        let state = filters["state"]
        let isLive = state.map { ["waiting", "scheduled", "ready", "running"].contains($0) }
        var links: [ActionLink] = []
        if isLive != true && state != "succeeded" && state != "skipped" {
            links.append(ActionLink(act: "retry", label: "Retry all that match", target: target))
        }
        if isLive != false { links.append(ActionLink(act: "cancel", label: "Cancel all that match", target: target)) }
        if state == nil || state == "scheduled" || state == "ready" {
            links.append(ActionLink(act: "reschedule", label: "Reschedule all that match", target: target))
        }
        return links
    }

    /// How far the search has looked, and the links to older and to the newest jobs.
    private func writePaging(to html: inout HTML) {
        let isFull = rows.count >= limit
        guard reached != nil || filters["before"] != nil else { return }
        html.element("p", ["class": "paging"]) { html in
            if let reached {
                if !isFull { html.text("Searched down to job \(reached); older jobs may match. ") }
                var older = filters.values.filter { $0.0 != "before" }
                older.append(("before", "\(reached)"))
                html.element(
                    "a", ["href": Column.link("/jobs", older), "rel": "next"],
                    isFull ? "Older jobs" : "Look further back")
                html.text(" ")
            }
            if filters["before"] != nil {
                let newest = filters.values.filter { $0.0 != "before" }
                html.element("a", ["href": Column.link("/jobs", newest)], "Newest jobs")
            }
        }
    }

    /// The filter form of a list of jobs or failures.
    static func bar(
        _ path: String, shown: Int, _ filters: PageFilters, states: [String], hasLimit: Bool,
        _ connection: borrowing PGConnection
    ) throws(PGError) -> FilterBar {
        var fields: [FilterBar.Field] = [
            .init("state", "state", .choice(states)), .init("queue", "queue"), .init("service", "service"),
            .init("lane", "lane"),
            .init("error_code", "error code", .choice(ErrorCode.allCases.map(\.rawValue).sorted())),
            .init("tag", "tag"), .init("url", "part of the URL"), .init("operation", "operation"),
            .init("status", "status", .number(100...599)), .init("error_name", "error name"),
            .init("since", "since (UTC)", .time), .init("until", "until (UTC)", .time),
        ]
        if hasLimit { fields.append(.init("limit", "at most", .number(PageFilters.limits))) }
        return FilterBar(
            path: path, fields: fields, shown: shown, values: filters.values.filter { $0.0 != "before" },
            suggestions: try SuggestedNames(for: fields, connection))
    }

    private static let example = """
        insert into postrider.jobs (method, url, body_json)
        values ('POST', 'https://api.example.com/orders', '{"id": 7}');
        """

    /// The columns of a list of jobs.
    static let columns = [
        Column("job", .job, "s.id"), Column("state", .state, "s.state"), Column("queue", .queue, "s.queue"),
        Column("lane", .lane, "s.lane"), Column("name", .text, "coalesce(s.name, s.tag)"),
        Column(
            "call", .code,
            """
            case when s.kind = 'request'
              then concat_ws(' ', s.method, postrider_internal.url_with_masked_query(s.url, '{}')) else s.kind end
            """),
        Column("attempt", .number, "nullif(s.attempt, 0)"), Column("status", .number, "s.status_code"),
        Column("error_code", .word, "s.error_code"), Column("created", .moment, "s.created_at"),
        Column("due", .moment, "case when s.finished_at is null then s.run_at end"),
        Column("running for", .span, "case when s.state = 'running' then now() - s.started_at end"),
        Column("ended", .moment, "s.finished_at"),
    ]
}
