// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The present problems: one row for each queue, worker, lane, credential, service, schedule and client that delays
/// or fails jobs.
struct Attention: Sendable {
    private let rows: ViewTable.Rows

    /// Reads the rows.
    ///
    /// - Parameters:
    ///   - queues: the rows of the overview's queues. `queue_status` counts the backlog, so it is read once.
    ///   - workers: likewise.
    init(
        queues: [ViewTable.Row], workers: [ViewTable.Row], _ connection: borrowing PGConnection
    ) throws(PGError) {
        let failures = try FailureGroups(
            "jsonb_build_object('since', now() - interval '5 min')", window: Attention.newestFailures, connection)
        let read = try ViewTable(title: "", columns: Attention.columns, source: Attention.source).read(connection)
        rows =
            Attention.workerRows(workers, queues) + failures.causes.compactMap(Attention.failureRow)
            + queues.compactMap(Attention.queueRow) + read
    }

    /// Adds the table, or a sentence if there is nothing.
    func write(acts: Bool, to html: inout HTML) {
        guard !rows.isEmpty else {
            html.element(
                "p", ["class": "why good"],
                "Nothing needs attention: no pause, no full limit, no outage, no lost worker, no series of failures.")
            return
        }
        ViewTable(
            title: "Needs attention", columns: Attention.columns, source: "", limit: 20,
            links: { row in
                var links: [ViewTable.RowLink] = []
                if let details = Attention.details(row) { links.append(.init("details", details)) }
                if let calls = Attention.calls(row) { links.append(.init("running calls", calls)) }
                if acts, let act = Attention.act(row) { links.append(.init(act)) }
                return links
            }
        ).write(rows, to: &html)
    }

    // MARK: Queues and workers

    private static func queueRow(_ row: ViewTable.Row) -> [String?]? {
        guard let name = row["queue"], let state = row["state"] else { return nil }
        let ready = Int(row["ready"] ?? "") ?? 0
        let jobs = ready == 1 ? "1 job is ready" : "\(Column.grouped("\(ready)")) jobs are ready"
        switch state {
        case "paused": return ["queue", name, "paused", nil, jobs]
        case "no worker": return ["queue", name, "no worker", nil, "\(jobs), and no live worker takes this queue"]
        default:
            guard let age = row["oldest ready"].flatMap(Double.init), age >= 60 else { return nil }
            return ["queue", name, "late", nil, "\(jobs); the oldest has waited \(Span.words(age))"]
        }
    }

    private static func workerRows(_ workers: [ViewTable.Row], _ queues: [ViewTable.Row]) -> ViewTable.Rows {
        var rows: ViewTable.Rows = workers.compactMap { row in
            guard let name = row["worker"], let state = row["state"] else { return nil }
            if let refused = row["refused results"] {
                return ["worker", name, "failing", nil, "the database has refused \(refused) of its results"]
            }
            switch state {
            case "silent": return ["worker", name, "silent", row["last heartbeat"], "its heartbeat is overdue"]
            case "lost" where isRecent(row["ended"]):
                return ["worker", name, "lost", row["ended"], "it stopped without a goodbye; its jobs run again"]
            default: return nil
            }
        }
        let isAnyAlive = workers.contains { ["running", "draining"].contains($0["state"] ?? "") }
        if !isAnyAlive && !queues.isEmpty {
            rows.insert(["worker", "any", "no worker", nil, "no worker runs; start one with: worker run"], at: 0)
        }
        return rows
    }

    /// Whether a moment lies within the last hour.
    private static func isRecent(_ moment: String?) -> Bool {
        guard let age = moment?.split(separator: "|").last.flatMap({ Double($0) }) else { return false }
        return age < 3600
    }

    // MARK: Failures

    /// How many failures of the last five minutes are read.
    private static let newestFailures = 200
    /// From how many failures of one cause within five minutes on they need attention.
    private static let seriesLength = 10

    /// Jobs that failed for one cause just now. Retried jobs do not count, so a retry ends the row.
    private static func failureRow(_ row: ViewTable.Row) -> [String?]? {
        guard let jobs = Int(row["jobs"] ?? ""), jobs >= seriesLength, row["state"] != "expired" else { return nil }
        let place = row["service"].map { ("service", $0) } ?? ("lane", row["lane"] ?? "")
        let count = jobs >= newestFailures ? "\(jobs) jobs or more" : "\(jobs) jobs"
        let meaning = row["meaning"].map { ": \($0)" } ?? ""
        return [place.0, place.1, "failing", nil, "\(count) failed within 5 min\(meaning)"]
    }

    // MARK: Links

    /// The jobs whose calls fill a lane, in order to find the one that does not end.
    private static func calls(_ row: ViewTable.Row) -> String? {
        guard row["kind"] == "lane", row["state"] == "at limit", let lane = row["name"] else { return nil }
        return Column.link("/jobs", [("state", "running"), ("lane", lane)])
    }

    private static func details(_ row: ViewTable.Row) -> String? {
        guard let name = row["name"], let kind = row["kind"] else { return nil }
        if row["state"] == "failing", kind == "service" || kind == "lane" {
            return Column.link("/failures", [(kind, name)])
        }
        return switch kind {
        case "queue": Column.link("/queues", [("queue", name)])
        case "lane": Column.link("/lanes", [("lane", name)])
        case "service": Column.link("/services", [("service", name)])
        case "worker", "credential", "schedule", "client": "/\(kind)s"
        default: nil
        }
    }

    private static func act(_ row: ViewTable.Row) -> ActionLink? {
        guard row["state"] == "paused", let name = row["name"], let kind = row["kind"] else { return nil }
        return ActionLink(act: "resume-\(kind)", label: "resume", target: [(kind, name)])
    }

    // MARK: SQL

    private static let columns = [
        Column("kind", .text, "a.kind"), Column("name", .text, "a.name"), Column("state", .state, "a.state"),
        Column("until", .moment, "a.until"), Column("why", .text, "a.why"),
    ]

    /// Each part reads small tables only.
    private static let source = """
        from (
          select 1 as place, 'lane' as kind, d.lane as name, d.state, d.until, d.why
            from postrider_internal.delayed_lanes() d
          union all
          select 2, 'credential', c.name, case when c.hold_reason is not null then 'refused' else c.state end,
                 c.next_try_at, coalesce(c.hold_reason, c.last_error, case when c.state = 'logged_off'
                   then 'jobs with login_required fail, others wait or are sent without a token' end)
            from postrider.credential_status c
           where c.state in ('logged_off', 'cooldown') or c.hold_reason is not null
          union all
          select 3, 'service', s.service, 'aside', s.open_until,
                 s.servers - s.servers_active || ' of ' || s.servers || ' servers set aside (' || s.environment || ')'
            from postrider.service_status s where s.servers_active < s.servers
          union all
          select 4, 'schedule', s.name, coalesce(s.last_state, 'failed'), s.last_run_at,
                 coalesce(s.last_error, 'its last job ended ' || s.last_state)
            from postrider.schedule_status s
           where s.enabled and (s.last_error is not null or s.last_state in ('failed', 'unknown', 'expired'))
          union all
          select 5, 'client', c.role, 'at limit', null::timestamptz,
                 coalesce(c.count_error, c.unfinished || ' unfinished jobs, at most ' || c.max_unfinished)
            from postrider.client_status c where c.unfinished >= c.max_unfinished or c.count_error is not null) a
        order by a.place, a.state desc, a.name limit 200
        """
}
