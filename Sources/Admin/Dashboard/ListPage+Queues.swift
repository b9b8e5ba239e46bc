// SPDX-License-Identifier: Apache-2.0

/// Where jobs wait: queues, lanes and workers.
extension ListPage {
    static let queues = Plan(
        title: "Queues", question: "How many jobs wait, do workers take them, and how fast do they end?",
        fields: [.init("queue", "queue")], charted: "queue",
        sections: [
            Section(
                columns: queueColumns.flatMap { $0.title == "drained in" ? [$0, queueTrend] : [$0] },
                from: "from postrider.queue_status", order: "order by ready desc, queue",
                conditions: ["queue": "queue"], limit: 200, empty: "There is no queue yet. The first job makes it:",
                example: "insert into postrider.jobs (url, queue) values ('https://api.example.com/ping', 'mail');",
                links: { ListPage.links($0["queue"], "queue", [("charts", "/queues"), ("failures", "/failures")]) },
                acts: { row in
                    guard let name = row["queue"] else { return [] }
                    let isPaused = row["state"] == "paused"
                    return [
                        ActionLink(
                            act: isPaused ? "resume-queue" : "pause-queue", label: isPaused ? "resume" : "pause",
                            target: [("queue", name)])
                    ]
                })
        ])

    private static let queueTrend = Column("last hour", .trend, "postrider_internal.queue_trend(queue)")

    /// Rare ends are null instead of 0, so that their columns are left out: the table then fits into 1280 px.
    static let queueColumns = [
        Column("queue", .queue, "queue"),
        Column(
            "state", .state,
            "case when paused then 'paused' when ready > 0 and not has_worker then 'no worker' else 'open' end"),
        Column("ready", .number, "ready"), Column("oldest ready", .span, "oldest_ready_age"),
        Column("running", .number, "running"), Column("scheduled", .number, "scheduled"),
        Column("waiting", .number, "waiting"), Column("per second", .number, "rate_per_second"),
        Column("drained in", .span, "case when ready > 0 then estimated_drain end"),
        Column("succeeded", .number, "succeeded"), Column("failed", .number, "failed"),
        Column("cancelled", .number, "nullif(cancelled, 0)"), Column("expired", .number, "nullif(expired, 0)"),
        Column("skipped", .number, "nullif(skipped, 0)"), Column("unknown", .number, "nullif(unknown, 0)"),
    ]

    static let lanes = Plan(
        title: "Lanes", question: "Which lane delays its jobs, and why?", fields: [.init("lane", "lane")],
        charted: "lane",
        sections: [
            Section(
                columns: laneColumns, from: "from postrider.lane_status",
                order: "order by paused desc, failing desc, held_by is null, ready desc, lane",
                conditions: ["lane": "lane"], limit: 200, empty: "No lane has jobs or limits. Limit one:",
                example: """
                    insert into postrider.lanes (name, max_in_flight, rate_limit, rate_period)
                    values ('api.example.com:443', 10, 100, '1 min');
                    """,
                links: { row in
                    let links = ListPage.links(row["lane"], "lane", [("jobs", "/jobs"), ("failures", "/failures")])
                    guard let lane = row["lane"], Int(row["calls"] ?? "") ?? 0 > 0 else { return links }
                    // They are the oldest jobs of the lane, so a list of all its jobs hides them behind newer ones.
                    let calls = Column.link("/jobs", [("state", "running"), ("lane", lane)])
                    return [ViewTable.RowLink("running calls", calls)] + links
                },
                acts: { row in
                    guard let name = row["lane"] else { return [] }
                    let isPaused = row["state"] == "paused"
                    return [
                        ActionLink(
                            act: isPaused ? "resume-lane" : "pause-lane", label: isPaused ? "resume" : "pause",
                            target: [("lane", name)])
                    ]
                })
        ])

    private static let laneColumns = [
        Column("lane", .lane, "lane"),
        Column(
            "state", .state,
            """
            case when paused then 'paused' when failing then 'failing' when held_by is not null then 'at limit'
                 else 'open' end
            """),
        Column("until", .moment, "case when paused then paused_until else next_call_at end"),
        Column(
            "why", .text,
            """
            case when paused then pause_reason
                 when held_by = 'max_in_flight'
                   then 'at most ' || max_in_flight || ' calls at once (lanes.max_in_flight)'
                 when held_by = 'rate_limit'
                   then 'at most ' || rate_limit || ' calls in ' || rate_period || ' (lanes.rate_limit)' end
            """),
        Column("calls", .number, "in_flight"), Column("at most", .number, "max_in_flight"),
        Column("rate limit", .text, "rate_limit || ' in ' || rate_period"),
        Column("ready", .number, "ready"), Column("oldest ready", .span, "oldest_ready_age"),
        Column("retries per second", .number, "case when failing then retry_rate end"),
    ]

    static let workers = Plan(
        title: "Workers", question: "Which workers run, which queues do they take, and is a worker lost?",
        sections: [
            Section(
                columns: workerColumns, from: "from postrider.worker_status", order: workerOrder, limit: 200,
                empty: "No worker has run within the last day. Start one:",
                example: "worker run --database postgresql://app@db/app")
        ])

    static let workerColumns = [
        Column("worker", .text, "worker"), Column("state", .state, "state"),
        Column("leader", .text, "case when leader then 'yes' end"), Column("calls", .number, "in_flight"),
        Column("at most", .number, "concurrency"), Column("queues", .text, "queues"),
        Column("environment", .text, "environment"), Column("version", .text, "version"),
        Column("last heartbeat", .moment, "heartbeat_at"), Column("started", .moment, "started_at"),
        Column("ended", .moment, "ended_at"), Column("refused results", .number, "nullif(results_waiting, 0)"),
    ]

    static let workerOrder = "order by ended_at is not null, coalesce(ended_at, now()) desc, epoch"
}
