// SPDX-License-Identifier: Apache-2.0

/// The pages of duties: schedules, the cache and limits of clients.
extension ListPage {
    static let schedules = Plan(
        title: "Schedules", question: "When does each schedule run next, and did its last job succeed?",
        sections: [
            Section(
                columns: [
                    Column("schedule", .text, "name"), Column("cron", .code, "cron"),
                    Column("time zone", .text, "timezone"),
                    Column("state", .state, "case when enabled then 'active' else 'paused' end"),
                    Column("next", .moment, "case when enabled then next_run_at end"),
                    Column("last", .moment, "last_run_at"), Column("last job", .job, "last_job_id"),
                    Column("last state", .state, "last_state"),
                    Column("last success", .moment, "u.succeeded_at"), Column("missed", .number, "nullif(missed, 0)"),
                    Column("skipped", .number, "nullif(skipped, 0)"), Column("last error", .text, "last_error"),
                ],
                from: """
                    from postrider.schedule_status
                    left join postrider_internal.last_successes(10000) u on u.schedule = name
                    """, order: "order by next_run_at, name",
                empty: "There is no schedule. Make one:",
                example: """
                    insert into postrider.schedules (name, cron, timezone, spec)
                    values ('nightly report', '0 3 * * *', 'Europe/Berlin',
                            '{"url": "https://api.example.com/report"}');
                    """,
                acts: { row in
                    guard let name = row["schedule"] else { return [] }
                    return [ActionLink(act: "run-schedule", label: "run now", target: [("schedule", name)])]
                })
        ])

    static let cache = Plan(
        title: "Cache", question: "How many calls does the cache save, and why does it miss?",
        fields: [.init("service", "service")],
        sections: [
            Section(
                columns: [
                    Column("service", .text, "coalesce(nullif(service, ''), '(none)')"),
                    Column("entries", .number, "entries"), Column("size", .size, "bytes"),
                    Column("hits", .number, "hits"), Column("stale", .number, "stale"),
                    Column("revalidated", .number, "revalidated"), Column("misses", .number, "misses"),
                    Column("too old", .number, "cache_expired"), Column("other version", .number, "cache_version"),
                    Column("other sensitive", .number, "cache_sensitive"),
                    Column("other app", .number, "cache_app_version"),
                    Column("bad metadata", .number, "cache_metadata"), Column("bad data", .number, "cache_data"),
                    Column("stored", .number, "stored"), Column("evicted", .number, "evicted"),
                    Column("invalidated", .number, "invalidated"),
                ],
                from: "from postrider.cache_status", order: "order by service", conditions: ["service": "service"],
                empty: "The cache is empty. A job with cache_ttl stores its answer and is served by it:",
                example: """
                    insert into postrider.jobs (url, cache_ttl) values ('https://api.example.com/rates', '10 min');
                    """)
        ])

    static let clients = Plan(
        title: "Clients", question: "Which client has reached a limit?",
        sections: [
            Section(
                columns: [
                    Column("role", .text, "role"),
                    Column(
                        "state", .state,
                        """
                        case when unfinished >= max_unfinished or lanes >= max_lanes then 'at limit' else 'open' end
                        """),
                    Column("unfinished", .number, "unfinished"), Column("at most", .number, "max_unfinished"),
                    Column("lanes", .number, "lanes"), Column("most lanes", .number, "max_lanes"),
                    Column("priorities", .text, "min_priority || ' to ' || max_priority"),
                    Column("longest timeout", .span, "max_timeout"), Column("largest body", .size, "max_request_body"),
                    Column("may download", .text, "case may_download when false then 'no' when true then 'yes' end"),
                    Column("error of the count", .text, "count_error"),
                ],
                from: "from postrider.client_status", order: "order by role",
                empty: "No client has limits. Limit every client role:",
                example: """
                    insert into postrider.client_limits (role, max_unfinished) values ('*', 100000);
                    """)
        ])
}
