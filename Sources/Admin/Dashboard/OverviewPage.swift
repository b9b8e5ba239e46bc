// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The first page: problems, counts of jobs by state, charts, failures by cause, queues and workers.
struct OverviewPage: DashboardPage {
    private let filters: PageFilters
    private let acts: Bool
    private let queues: ViewTable.Rows
    private let workers: ViewTable.Rows
    private let attention: Attention
    private let failures: FailureGroups
    private let charts: TimeCharts

    let title = "Overview"
    let path = "/"

    init(_ filters: PageFilters, acts: Bool, _ connection: borrowing PGConnection) throws(PGError) {
        self.filters = filters
        self.acts = acts
        queues = try OverviewPage.queueTable.read(connection)
        workers = try OverviewPage.workerTable.read(connection)
        attention = try Attention(
            queues: queues.map { ViewTable.Row(columns: ListPage.queueColumns, values: $0) },
            workers: workers.map { ViewTable.Row(columns: ListPage.workerColumns, values: $0) }, connection)
        failures = try FailureGroups(
            "jsonb_build_object('since', now() - interval '1 day')", window: 1000, connection)
        charts = try TimeCharts("/", filters, connection)
    }

    func write(to html: inout HTML) {
        attention.write(acts: acts, to: &html)
        Figure.write(
            OverviewPage.figures.map { state in
                let jobs = OverviewPage.queueTable.sum(state, queues)
                let isBad = jobs > 0 && (state == "failed" || state == "unknown")
                return Figure(
                    value: Column.grouped("\(jobs)"), label: state, href: Column.link("/jobs", [("state", state)]),
                    tone: isBad ? .bad : .plain)
            }, to: &html)
        charts.write(title: chartTitle, to: &html)
        failures.write(
            title: failures.reached == nil
                ? "Failures of the last 24 hours by cause"
                : "The last \(Column.grouped("\(failures.looked)")) failures by cause",
            filters: [], acts: acts,
            empty: "No job has failed within the last 24 hours.", limit: 10, to: &html)
        OverviewPage.queueTable.write(queues, to: &html)
        OverviewPage.workerTable.write(workers, to: &html)
    }

    private var chartTitle: String {
        let names = ["queue", "lane", "service"].compactMap { name in filters[name].map { "\(name) \($0)" } }
        return names.isEmpty ? "Jobs over time" : "Jobs over time: \(names.joined(separator: ", "))"
    }

    /// The states that are counted over all queues.
    private static let figures = ["ready", "running", "scheduled", "waiting", "succeeded", "failed", "unknown"]

    private static let queueTable = ViewTable(
        title: "Queues", columns: ListPage.queueColumns,
        source: "from postrider.queue_status order by ready desc, queue", limit: 200, sums: figures,
        empty: "No job has been inserted yet. Insert one:",
        example: """
            insert into postrider.jobs (method, url, body_json)
            values ('POST', 'https://api.example.com/orders', '{"id": 7}');
            """)

    private static let workerTable = ViewTable(
        title: "Workers", columns: ListPage.workerColumns,
        source: "from postrider.worker_status \(ListPage.workerOrder)", limit: 100,
        empty: "No worker has run within the last day. Start one with: worker run")
}
