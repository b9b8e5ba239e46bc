// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The first page: counts of jobs by state, the workers, and the last failures.
struct OverviewPage: DashboardPage {
    private let queues: ViewTable.Rows
    private let workers: ViewTable.Rows
    private let heldBack: ViewTable.Rows
    private let failures: ViewTable.Rows
    private let chart: ThroughputChart

    let title = "Overview"
    let path = "/"

    init(_ connection: borrowing PGConnection) throws(PGError) {
        queues = try OverviewPage.queueTable.read(connection)
        workers = try OverviewPage.workerTable.read(connection)
        heldBack = try OverviewPage.heldBackTable.read(connection)
        failures = try OverviewPage.failureTable.read(connection)
        chart = try ThroughputChart(connection)
    }

    func write(to html: inout HTML) {
        html.element("div", ["class": "cards"]) { html in
            for state in OverviewPage.cards {
                let jobs = OverviewPage.queueTable.sum(state, queues)
                let isBad = jobs > 0 && (state == "failed" || state == "unknown")
                html.element("div", ["class": isBad ? "card bad" : "card"]) { html in
                    html.element("b", Column.grouped("\(jobs)"))
                    html.element("a", ["href": Column.link("/jobs", ["state": state])], state)
                }
            }
        }
        chart.write(to: &html)
        OverviewPage.queueTable.write(queues, to: &html)
        OverviewPage.workerTable.write(workers, to: &html)
        OverviewPage.heldBackTable.write(heldBack, to: &html)
        OverviewPage.failureTable.write(failures, to: &html)
    }

    /// The states that are counted over all queues.
    private static let cards = ["ready", "running", "scheduled", "waiting", "succeeded", "failed", "unknown"]

    private static let queueTable = ViewTable(
        title: "Queues",
        columns: [
            Column("queue", .queue, "queue"),
            Column(
                "state", .state,
                "case when paused then 'paused' when ready > 0 and not has_worker then 'no worker' else 'open' end"),
            Column("ready", .number, "ready"), Column("oldest ready", .span, "oldest_ready_age"),
            Column("running", .number, "running"), Column("scheduled", .number, "scheduled"),
            Column("waiting", .number, "waiting"), Column("ended per second", .number, "rate_per_second"),
            Column("drained in", .span, "case when ready > 0 then estimated_drain end"),
            Column("succeeded", .number, "succeeded"), Column("failed", .number, "failed"),
            Column("cancelled", .number, "cancelled"), Column("expired", .number, "expired"),
            Column("skipped", .number, "skipped"), Column("unknown", .number, "unknown"),
        ],
        source: "from postrider.queue_status order by ready desc, queue", limit: 200, sums: cards,
        empty: "No job has been inserted yet.")

    private static let workerTable = ViewTable(
        title: "Workers",
        columns: [
            Column("worker", .text, "worker"), Column("state", .state, "state"),
            Column("leader", .text, "case when leader then 'yes' end"), Column("calls", .number, "in_flight"),
            Column("at most", .number, "concurrency"), Column("queues", .text, "queues"),
            Column("environment", .text, "environment"), Column("version", .text, "version"),
            Column("last heartbeat", .moment, "heartbeat_at"), Column("started", .moment, "started_at"),
        ],
        source:
            "from postrider.worker_status order by ended_at is not null, coalesce(ended_at, now()) desc, epoch",
        limit: 100,
        empty: "No worker has run within the last day. Start one with: worker run")

    private static let heldBackTable = ViewTable(
        title: "Lanes that delay jobs", columns: ListPage.laneColumns,
        source: """
            from postrider.lane_status where failing or held_by is not null
            order by ready desc, lane
            """, limit: 20)

    private static let failureTable = ViewTable(
        title: "Latest failures",
        columns: [
            Column("job", .job, "id"), Column("state", .state, "state"), Column("ended", .moment, "finished_at"),
            Column("queue", .queue, "queue"),
            Column("call", .code, "concat_ws(' ', method, postrider_internal.url_with_masked_query(url, '{}'))"),
            Column("attempts", .number, "attempt"), Column("status", .number, "status_code"),
            Column("error_code", .word, "error_code"), Column("error", .text, "error"),
        ],
        source: "from postrider.recent_failures limit 20", empty: "No job has failed.")
}
