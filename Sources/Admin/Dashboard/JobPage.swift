// SPDX-License-Identifier: Apache-2.0

internal import Engine
internal import PGClient

/// All facts about one job: its columns, the reason of its state, its attempts, its answer and its members.
struct JobPage: DashboardPage {
    private let id: Int64
    /// The values of `JobPage.columns`, in the same order; nil if the job does not exist.
    private let facts: [String?]?
    /// The sentence of `postrider.explain`: why the job is in its state.
    private let why: String?
    private let tables: [(table: ViewTable, rows: ViewTable.Rows)]
    private let answer: JobAnswer?
    /// The request as a curl command; nil: it is not known yet, or its body is larger than 64 KiB.
    private let curl: String?

    let path = "/jobs"

    /// Reads the job and its related rows.
    init(_ id: Int64, _ connection: borrowing PGConnection) throws(PGError) {
        self.id = id
        var parameters = PGParameters()
        parameters.append(int64: id)
        let list = JobPage.columns.map(\.expression).joined(separator: ", ")
        let job = try connection.query("select \(list) from postrider.job_status s where s.id = $1", &parameters)
        guard job.rowCount > 0 else {
            (facts, why, tables, answer, curl) = (nil, nil, [], nil, nil)
            return
        }
        facts = JobPage.columns.indices.map { job.optionalText(0, $0) }
        why = try connection.query("select postrider.explain($1) as value", &parameters)
            .optionalText(0, PGValueColumn.value)
        var tables: [(table: ViewTable, rows: ViewTable.Rows)] = []
        for table in JobPage.tables {
            var parameters = PGParameters()
            parameters.append(int64: id)
            let rows = try table.read(connection, parameters)
            if !rows.isEmpty { tables.append((table, rows)) }
        }
        self.tables = tables
        answer = try JobAnswer.read(id, connection)
        curl = JobPage.curl(id, connection)
    }

    /// The curl command of a request whose body has at most 64 KiB. No value of a service is shown.
    ///
    /// It is read last, because an error ends the transaction, for example if a step still waits for its templates.
    private static func curl(_ id: Int64, _ connection: borrowing PGConnection) -> String? {
        var parameters = PGParameters()
        parameters.append(int64: id)
        let small = try? connection.query(
            """
            select coalesce(sum(octet_length(v.text)), 0) <= 65536 as value
              from postrider.jobs j
             cross join lateral (
               values (j.body::text), (j.body_json::text), (j.body_form::text), (j.body_parts::text)) v (text)
             where j.id = $1 and j.kind = 'request' having count(*) > 0
            """, &parameters)
        guard let small, small.rowCount > 0, small.bool(0, PGValueColumn.value) else { return nil }
        return try? JobCurl.command(id, connection, showsServices: false).get()
    }

    var title: String { "Job \(id)" }
    var status: UInt32 { facts == nil ? 404 : 200 }
    var isLive: Bool { facts != nil && !hasEnded }

    private func fact(_ title: String) -> String? {
        JobPage.columns.firstIndex { $0.title == title }.flatMap { facts?[$0] }
    }

    private var hasEnded: Bool { fact("ended") != nil }

    func write(to html: inout HTML) {
        guard let facts else {
            html.element("p", "There is no job \(id). It never existed, or was deleted after its retention.")
            return
        }
        if let why { html.element("p", ["class": "why"], why) }
        html.element("dl") { html in
            for (column, value) in zip(JobPage.columns, facts) {
                guard let value, !value.isEmpty else { continue }
                html.element("dt", column.title)
                html.element("dd") { column.write(value, to: &$0) }
            }
        }
        for (table, rows) in tables { table.write(rows, to: &html) }
        answer?.write(to: &html)
        if let curl {
            html.element("section") { html in
                html.element("h2", "Request as a curl command")
                html.element("pre", curl)
            }
        }
        html.element("section") { html in
            html.element("h2", "Commands for this job")
            html.element("pre", hasEnded ? "worker retry \(id)" : "worker cancel \(id)\nworker watch \(id)")
        }
    }

    private static let columns = [
        Column("state", .state, "s.state"), Column("kind", .text, "s.kind"), Column("name", .text, "s.name"),
        Column(
            "call", .code,
            "case when s.kind = 'request' then concat_ws(' ', s.method, postrider_internal.url_with_masked_query(s.url, '{}')) end"
        ),
        Column(
            "called URL", .code,
            "case when s.request_url <> postrider_internal.url_with_masked_query(s.url, '{}') then s.request_url end"),
        Column("status", .number, "s.status_code"), Column("last error", .text, "s.last_error"),
        Column("error", .text, "concat_ws(': ', s.error_code, s.error)"),
        Column("first failed job", .job, "s.failed_job_id"), Column("parent", .job, "s.parent_id"),
        Column("position", .number, "case when s.parent_id is not null then s.position end"),
        Column(
            "members", .text,
            "s.children_finished || ' of ' || s.children || ' ended' || case when s.children_failed > 0 then ', ' || s.children_failed || ' failed' else '' end"
        ),
        Column("attempts", .text, "case when s.kind = 'request' then s.attempt || ' of ' || s.max_attempts end"),
        Column("received", .size, "s.bytes_done"), Column("total size", .size, "s.bytes_total"),
        Column("from the cache", .text, "case when s.from_cache then 'yes' end"),
        Column("queue", .queue, "s.queue"), Column("lane", .text, "s.lane"), Column("service", .text, "s.service"),
        Column("priority", .number, "s.priority"), Column("worker", .text, "s.worker"),
        Column("created", .instant, "s.created_at"), Column("due", .instant, "s.run_at"),
        Column("started", .instant, "s.started_at"), Column("ended", .instant, "s.finished_at"),
        Column("duration", .span, "s.elapsed"),
        Column("operation", .text, "s.operation || ' (revision ' || s.operation_revision || ')'"),
        Column("arguments", .code, "left(s.arguments::text, 4000)"), Column("tag", .text, "s.tag"),
        Column("metadata", .code, "left(s.metadata::text, 4000)"),
    ]

    private static let tables = [
        ViewTable(
            title: "Attempts",
            columns: [
                Column("attempt", .number, "attempt"), Column("started", .moment, "started_at"),
                Column("phase", .word, "phase"), Column("deadline", .moment, "deadline"),
                Column("status", .number, "status_code"), Column("error_code", .word, "error_code"),
                Column("rule", .text, "rule"), Column("error", .text, "error"),
                Column("cache", .text, "case when from_stub then 'stub' else cache end"),
                Column("ms", .number, "total_ms"),
                Column("dns", .number, "nullif(dns_ms, 0)"), Column("connected", .number, "nullif(connect_ms, 0)"),
                Column("tls", .number, "nullif(tls_ms, 0)"), Column("first byte", .number, "nullif(first_byte_ms, 0)"),
                Column("address", .code, "remote_ip"), Column("HTTP", .text, "http_version"),
                Column("connection", .text, "case when reused then 'kept' else 'opened' end"),
                Column("server", .code, "server"), Column("sent", .size, "bytes_sent"),
                Column("received", .size, "bytes_received"), Column("worker", .text, "worker"),
            ],
            source: "from postrider.attempts where job_id = $1 order by started_at desc, attempt desc", limit: 200),
        ViewTable(
            title: "Members", columns: JobsPage.columns,
            // The members are selected first. Otherwise `job_status` would be computed for all of them before the limit
            // applies. One row more than the limit is selected, as in `ViewTable.read`: it shows that there are more.
            source: """
                from postrider.job_status s
                where s.id = any (array(
                  select m.job_id from postrider_internal.members m where m.parent_id = $1
                    order by m.position limit 201))
                order by s.position
                """, limit: 200),
        ViewTable(
            title: "Pages",
            columns: [
                Column("page", .number, "page"),
                Column("url", .code, "postrider_internal.url_with_masked_query(url, '{}')"),
                Column("status", .number, "status_code"),
                Column("items", .number, "item_count"),
                Column("next", .code, "postrider_internal.url_with_masked_query(next, '{}')"),
                Column("fetched", .moment, "fetched_at"),
            ],
            source: "from postrider.pages where job_id = $1 order by page", limit: 200),
        ViewTable(
            title: "Callbacks that failed",
            columns: [
                Column("event", .text, "event"), Column("callback", .text, "callback"),
                Column("function", .code, "function"), Column("at", .moment, "failed_at"),
                Column("sqlstate", .code, "sqlstate"), Column("error", .text, "error"),
            ],
            source: "from postrider.callback_errors where job_id = $1 order by failed_at desc", limit: 50),
    ]
}
