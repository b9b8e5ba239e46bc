// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The body of a job's answer as a file. Its type is chosen by its bytes, from a short list of types that no browser
/// runs. A browser saves the file instead of showing it.
struct JobBody: DashboardPage {
    private let id: Int64
    /// Nil: the job or its body does not exist.
    private let size: Int?
    private let bytes: [UInt8]?

    let title = "Body of an answer"
    let path = "/jobs"
    let isLive = false

    private enum BodyColumn: Int, PGColumn {
        case size, body

        var sql: StaticString {
            switch self {
            case .size: "octet_length(s.body) as size"
            case .body: "case when octet_length(s.body) <= $2 then s.body end as body"
            }
        }
    }

    /// Reads the body if it is not too large.
    init(_ id: Int64, _ connection: borrowing PGConnection) throws(PGError) {
        self.id = id
        var parameters = PGParameters()
        parameters.append(int64: id)
        parameters.append(int32: Int32(JobAnswer.largestDownload))
        let read = try connection.query(
            "select \(BodyColumn.selectList) from postrider.job_status s where s.id = $1", &parameters)
        guard read.rowCount > 0, !read.isNull(0, BodyColumn.size) else {
            (size, bytes) = (nil, nil)
            return
        }
        size = Int(read.int32(0, BodyColumn.size))
        bytes = read.isNull(0, BodyColumn.body) ? nil : read.bytes(0, BodyColumn.body)
    }

    var status: UInt32 { size == nil ? 404 : 413 }

    var file: AdminResponse? {
        guard let bytes else { return nil }
        let kind = BodyKind(bytes, isPart: false)
        return AdminResponse(
            status: 200, type: kind.safeType, body: "", bytes: bytes,
            filename: "job-\(id)-body.\(kind.fileExtension)")
    }

    /// The reason why there is no file.
    func write(to html: inout HTML) {
        guard size != nil else {
            return html.element("p", "There is no stored body of job \(id).")
        }
        html.element("p") { html in
            html.text("The body is larger than \(JobAnswer.largestDownload >> 20) MiB. Read it with ")
            html.element("code", "select body from postrider.job_status where id = \(id)")
            html.text(".")
        }
    }
}
