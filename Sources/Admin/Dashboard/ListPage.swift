// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// A page that shows one view, or a few.
struct ListPage: DashboardPage {
    /// The tables of such a page.
    struct Plan: Sendable {
        let title: String
        let tables: [ViewTable]
    }

    let path: String
    private let plan: Plan
    private let rows: [ViewTable.Rows]

    /// The page at a path; nil if the path is unknown.
    init?(_ path: String, _ connection: borrowing PGConnection) throws(PGError) {
        guard let plan = ListPage.plans[path] else { return nil }
        self.path = path
        self.plan = plan
        var rows: [ViewTable.Rows] = []
        for table in plan.tables { rows.append(try table.read(connection)) }
        self.rows = rows
    }

    var title: String { plan.title }

    func write(to html: inout HTML) {
        for (table, rows) in zip(plan.tables, rows) { table.write(rows, to: &html) }
    }

    /// The pages by path.
    static let plans: [String: Plan] = [
        "/lanes": Plan(title: "Lanes", tables: [lanes]),
        "/services": Plan(title: "Services", tables: [services, servers]),
        "/credentials": Plan(title: "Credentials", tables: [credentials]),
        "/schedules": Plan(title: "Schedules", tables: [schedules]),
        "/cache": Plan(title: "Cache", tables: [cache]),
    ]

    private static let lanes = ViewTable(
        title: "", columns: laneColumns,
        source: "from postrider.lane_status order by paused desc, failing desc, held_by is null, ready desc, lane",
        limit: 200,
        empty: "No lane has jobs or limits.")

    static let laneColumns = [
        Column("lane", .text, "lane"),
        Column(
            "state", .state,
            "case when paused then 'paused' when failing then 'failing' when held_by is not null then 'at limit' else 'open' end"
        ),
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

    private static let services = ViewTable(
        title: "",
        columns: [
            Column("service", .text, "service"), Column("environment", .text, "environment"),
            Column("state", .state, "case state when 'all servers aside' then 'aside' when 'active' then 'active' end"),
            Column("calls go to", .code, "base_url"), Column("servers", .number, "nullif(servers, 0)"),
            Column("servers in use", .number, "case when servers > 0 then servers_active end"),
            Column("calls", .number, "case when servers > 0 then calls end"),
            Column("errors", .number, "case when servers > 0 then errors end"),
        ],
        source: "from postrider.service_status order by service, environment", limit: 200,
        empty: "There is no service.")

    private static let servers = ViewTable(
        title: "Servers",
        columns: [
            Column("service", .text, "service"), Column("environment", .text, "environment"),
            Column("position", .number, "d ->> 'position'"),
            Column("base URL", .code, "postrider_internal.url_without_login(d ->> 'base_url')"),
            Column("state", .state, "d ->> 'state'"),
            Column("next probe", .moment, "(d ->> 'open_until')::timestamptz"),
            Column("calls", .number, "d ->> 'calls'"), Column("errors", .number, "d ->> 'errors'"),
        ],
        source: """
            from postrider.service_status cross join lateral jsonb_array_elements(server_details) d
            order by service, environment, (d ->> 'position')::int
            """, limit: 500,
        empty: "No service has several servers.")

    private static let credentials = ViewTable(
        title: "",
        columns: [
            Column("credential", .text, "name"), Column("kind", .text, "kind"), Column("state", .state, "state"),
            Column("version", .number, "version"), Column("expires", .moment, "expires_at"),
            Column("jobs waiting", .number, "nullif(jobs_waiting, 0)"), Column("refreshes", .number, "refreshes"),
            Column("last refresh", .moment, "last_refresh_at"), Column("failures", .number, "failures"),
            Column("next attempt", .moment, "next_try_at"), Column("last error", .text, "last_error"),
        ],
        source: "from postrider.credential_status order by name", limit: 500,
        empty: "There is no credential.")

    private static let schedules = ViewTable(
        title: "",
        columns: [
            Column("schedule", .text, "name"), Column("cron", .code, "cron"), Column("time zone", .text, "timezone"),
            Column("state", .state, "case when enabled then 'active' else 'paused' end"),
            Column("next", .moment, "case when enabled then next_run_at end"), Column("last", .moment, "last_run_at"),
            Column("last job", .job, "last_job_id"), Column("last state", .state, "last_state"),
            Column("missed", .number, "nullif(missed, 0)"), Column("skipped", .number, "nullif(skipped, 0)"),
            Column("last error", .text, "last_error"),
        ],
        source: "from postrider.schedule_status order by next_run_at, name", limit: 500,
        empty: "There is no schedule.")

    private static let cache = ViewTable(
        title: "",
        columns: [
            Column("service", .text, "coalesce(nullif(service, ''), '(none)')"), Column("entries", .number, "entries"),
            Column("size", .size, "bytes"), Column("hits", .number, "hits"), Column("stale", .number, "stale"),
            Column("revalidated", .number, "revalidated"), Column("misses", .number, "misses"),
            Column("too old", .number, "cache_expired"), Column("other version", .number, "cache_version"),
            Column("other sensitive", .number, "cache_sensitive"), Column("other app", .number, "cache_app_version"),
            Column("bad metadata", .number, "cache_metadata"), Column("bad data", .number, "cache_data"),
            Column("stored", .number, "stored"), Column("evicted", .number, "evicted"),
            Column("invalidated", .number, "invalidated"),
        ],
        source: "from postrider.cache_status order by service", limit: 500,
        empty: "The cache is empty.")
}
