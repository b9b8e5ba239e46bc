// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The columns of a job as a list of names and values.
enum JobFacts {
    /// Reads the values of `columns`.
    static func read(_ id: Int64, _ connection: borrowing PGConnection) throws(PGError) -> [String?] {
        var parameters = PGParameters()
        parameters.append(int64: id)
        let list = columns.map(\.expression).joined(separator: ", ")
        let job = try connection.query("select \(list) from postrider.job_status s where s.id = $1", &parameters)
        guard job.rowCount > 0 else { return [] }
        return columns.indices.map { job.optionalText(0, $0) }
    }

    /// Adds the list without empty values.
    static func write(_ facts: [String?], to html: inout HTML) {
        html.element("dl", ["class": "facts"]) { html in
            for (column, value) in zip(columns, facts) {
                guard let value, !value.isEmpty else { continue }
                html.element("div", wide.contains(column.title) ? ["class": "wide"] : [:]) { html in
                    html.element("dt", column.title)
                    html.element("dd") { column.write(value, to: &$0) }
                }
            }
        }
    }

    /// The facts with long values, which get a line of their own.
    private static let wide: Set = ["last error", "called URL", "arguments", "metadata"]

    private static let columns = [
        Column("queue", .queue, "s.queue"), Column("lane", .lane, "s.lane"), Column("service", .service, "s.service"),
        Column("operation", .text, "s.operation || ' (revision ' || s.operation_revision || ')'"),
        Column("tag", .text, "s.tag"), Column("priority", .number, "nullif(s.priority, 0)"),
        Column("attempts", .text, "case when s.kind = 'request' then s.attempt || ' of ' || s.max_attempts end"),
        Column("worker", .text, "s.worker"),
        Column("parent", .job, "s.parent_id"),
        Column("position", .number, "case when s.parent_id is not null then s.position end"),
        Column("first failed job", .job, "s.failed_job_id"),
        Column("received", .size, "s.bytes_done"), Column("total size", .size, "s.bytes_total"),
        Column("from the cache", .text, "case when s.from_cache then 'yes' end"),
        Column("created", .instant, "s.created_at"),
        Column(
            "due", .instant,
            "case when s.finished_at is null and s.run_at > s.created_at + interval '1 s' then s.run_at end"),
        Column("started", .instant, "s.started_at"), Column("ended", .instant, "s.finished_at"),
        Column("duration", .span, "s.elapsed"),
        Column("error code of the API", .text, "concat_ws(' ', s.envelope_code, s.error_name)"),
        Column("last error", .text, "s.last_error"),
        Column(
            "called URL", .code,
            "case when s.request_url <> postrider_internal.url_with_masked_query(s.url, '{}') then s.request_url end"),
        Column("arguments", .code, "left(s.arguments::text, 4000)"),
        Column("metadata", .code, "left(s.metadata::text, 4000)"),
    ]
}
