// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import PGClient

/// The HTTP answer that is stored with a job.
struct JobAnswer: Sendable {
    private let job: Int64
    private let status: Int32?
    /// The answer rule that decided; nil: none did.
    private let rule: String?
    private var headers: [HTTPHeader] = []
    /// The body: all of it, or its beginning.
    private let body: [UInt8]?
    private let size: Int
    /// The part that was kept of the body, or the list of all pages.
    private let result: [UInt8]?
    private let resultSize: Int

    /// A larger body is not downloaded through the dashboard.
    static let largestDownload = 8 << 20

    private enum AnswerColumn: Int, PGColumn {
        case status, rule, body, size, result, resultSize

        var sql: StaticString {
            switch self {
            case .status: "coalesce(s.status_code, 0) as status"
            case .rule:
                """
                (select a.rule from postrider.attempts a where a.job_id = s.id and s.finished_at is not null
                  order by a.fence desc limit 1) as rule
                """
            case .body:
                "substr(s.body, 1, case when octet_length(s.body) <= $2 then $2 else $3 end) as body"
            case .size: "coalesce(octet_length(s.body), 0) as size"
            case .result: "left(r.text, $3) as result"
            case .resultSize: "coalesce(octet_length(r.text), 0) as result_size"
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
    /// A stored result is compressed, so 64 KiB of it may be a text of some MiB, and larger ones are not read.
    static func read(_ job: Int64, _ connection: borrowing PGConnection) throws(PGError) -> JobAnswer? {
        var parameters = PGParameters()
        parameters.append(int64: job)
        parameters.append(int32: Int32(BodyView.largestImage))
        parameters.append(int32: Int32(BodyView.mostShown))
        let read = try connection.query(
            """
            select \(AnswerColumn.selectList)
              from postrider.job_status s
              left join lateral (
                   select x.result::text as text from postrider_internal.results x
                    where x.job_id = s.id and pg_column_size(x.result) <= 65536) r on true
             where s.id = $1
            """, &parameters)
        guard read.rowCount > 0 else { return nil }
        var id = PGParameters()
        id.append(int64: job)
        let headers = try connection.query(
            """
            select \(HeaderColumn.selectList) from postrider.job_status s
             cross join lateral jsonb_each(postrider_internal.masked_json(s.response_headers)) h
             cross join lateral jsonb_array_elements_text(h.value) v where s.id = $1 order by h.key
            """, &id)
        var answer = JobAnswer(job, read)
        for row in 0..<headers.rowCount {
            answer.headers.append(
                HTTPHeader(headers.text(row, HeaderColumn.name), headers.text(row, HeaderColumn.value)))
        }
        return answer.headers.isEmpty && answer.body == nil && answer.result == nil && answer.status == nil
            ? nil : answer
    }

    private init(_ job: Int64, _ read: borrowing PGResult) {
        self.job = job
        let status = read.int32(0, AnswerColumn.status)
        self.status = status == 0 ? nil : status
        rule = read.optionalText(0, AnswerColumn.rule)
        body = read.isNull(0, AnswerColumn.body) ? nil : read.bytes(0, AnswerColumn.body)
        size = Int(read.int32(0, AnswerColumn.size))
        result = read.isNull(0, AnswerColumn.result) ? nil : Array(read.text(0, AnswerColumn.result).utf8)
        resultSize = Int(read.int32(0, AnswerColumn.resultSize))
    }

    /// Adds the section.
    func write(to html: inout HTML) {
        html.element("section", ["class": "answer"]) { html in
            html.element("h2", "Answer")
            if let status {
                html.element("p", ["class": "line"]) { html in
                    html.text("Status ")
                    html.element("b", ["class": status < 400 ? "good" : "trouble"], "\(status)")
                }
            }
            if let rule {
                html.element("p", ["class": "line"]) { html in
                    html.text("Decided by the answer rule ")
                    html.element("code", rule)
                    html.text(".")
                }
            }
            HeaderList.write(headers, to: &html)
            if let result {
                html.element("h3", "Result")
                BodyView(title: "result", bytes: result, size: resultSize).write(to: &html)
            }
            if let body {
                html.element("h3", "Body")
                let path = size <= JobAnswer.largestDownload ? "/jobs/\(job)/body" : nil
                BodyView(title: "body of the answer", bytes: body, size: size, download: path).write(to: &html)
                if path == nil { JobAnswer.writeLarge(job, to: &html) }
            }
        }
    }

    private static func writeLarge(_ job: Int64, to html: inout HTML) {
        html.element("p", ["class": "empty"]) { html in
            html.text("It is larger than \(largestDownload >> 20) MiB. Read it with ")
            html.element("code", "select body from postrider.job_status where id = \(job)")
            html.text(".")
        }
    }
}
