// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// The HTTP answer that is stored with a job.
struct JobAnswer: Sendable {
    private var headers: [(name: String, value: String)]
    private var result: String?
    private var body: String?

    private enum Column: Int, PGColumn {
        case body, size, result

        var sql: StaticString {
            switch self {
            case .body: "substr(s.body, 1, 16384) as body"
            case .size: "octet_length(s.body) as size"
            case .result:
                """
                case when pg_column_size(s.result) <= 65536
                  then left(jsonb_pretty(s.result), 16384) end as result
                """
            }
        }
    }

    private enum HeaderColumn: Int, PGColumn {
        case name, value

        var sql: StaticString {
            switch self {
            case .name: "h.key as name"
            case .value: "v.value as value"
            }
        }
    }

    /// Reads the job's answer. Nil if nothing of it is stored.
    ///
    /// It reads at most 16 KiB of the body, and the page shows 4,000 characters of them. It shows a result of at most
    /// 64 KiB, indented and cut to 16,384 characters.
    static func read(_ job: Int64, _ connection: borrowing PGConnection) throws(PGError) -> JobAnswer? {
        var parameters = PGParameters()
        parameters.append(int64: job)
        let read = try connection.query(
            "select \(Column.selectList) from postrider.job_status s where s.id = $1", &parameters)
        let headers = try connection.query(
            """
            select \(HeaderColumn.selectList) from postrider.job_status s
             cross join lateral jsonb_each(postrider_internal.masked_json(s.response_headers)) h
             cross join lateral jsonb_array_elements_text(h.value) v where s.id = $1 order by h.key
            """, &parameters)
        var answer = JobAnswer(headers: [])
        for row in 0..<headers.rowCount {
            answer.headers.append((headers.text(row, HeaderColumn.name), headers.text(row, HeaderColumn.value)))
        }
        guard read.rowCount > 0 else { return nil }
        if !read.isNull(0, Column.body) {
            answer.body = SanitizedText.body(read.bytes(0, Column.body), size: Int(read.int32(0, Column.size)))
        }
        answer.result = read.optionalText(0, Column.result)
        return answer.headers.isEmpty && answer.body == nil && answer.result == nil ? nil : answer
    }

    /// Adds the section.
    func write(to html: inout HTML) {
        html.element("section") { html in
            html.element("h2", "Answer")
            if let result { html.element("pre", result) }
            if let body {
                guard result != nil else { return html.element("pre", body) }
                html.element("details") { html in
                    html.element("summary", "body as received")
                    html.element("pre", body)
                }
            }
            guard !headers.isEmpty else { return }
            html.element("details") { html in
                html.element("summary", "headers")
                html.element("dl") { html in
                    for (name, value) in headers {
                        html.element("dt", name)
                        html.element("dd") { $0.element("code", value) }
                    }
                }
            }
        }
    }
}
