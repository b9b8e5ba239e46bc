// SPDX-License-Identifier: Apache-2.0

internal import Engine
internal import JobModel
internal import PGClient

/// The request of a job as it is sent: templates filled, values of the service added, secrets masked.
struct JobRequestPart: Sendable {
    private let job: Int64
    private let request: ShownRequest?
    /// Why the request is not known, as a sentence without its period.
    private let missing: String?
    /// Whether the body is too large to be masked and shown.
    let isLarge: Bool
    /// The curl command; nil: the job makes no call, or the body is too large.
    let curl: String?

    /// Larger bodies are left out: to mask 256 KiB takes a quarter of a second.
    private static let largestBody: Int32 = 64 << 10

    /// Reads the request. No value of a service is shown.
    ///
    /// It uses a savepoint, because an error would end the transaction, for example if a step still waits for its
    /// templates.
    init(_ job: Int64, _ connection: borrowing PGConnection) throws(PGError) {
        self.job = job
        var parameters = PGParameters()
        parameters.append(int64: job)
        parameters.append(int32: JobRequestPart.largestBody)
        let isLarge = try connection.query(
            """
            select postrider_internal.has_large_body(postrider_internal.filled_job(j), $2) as value
              from postrider.jobs j where j.id = $1
            """, &parameters)
        self.isLarge = isLarge.rowCount > 0 && isLarge.bool(0, PGValueColumn.value)
        try connection.execute("savepoint request")
        do throws(PGError) {
            let read = try MaskedJobRequest.read(job, connection, showsServices: false, withoutBody: self.isLarge)
            switch read {
            case .success(let masked):
                request = masked.shown
                curl = self.isLarge ? nil : try? masked.curl.get()
                missing = nil
            case .failure(let reason): (request, curl, missing) = (nil, nil, reason.message)
            }
        } catch {
            guard case .server = error.code else { throw error }
            try connection.execute("rollback to savepoint request")
            (request, curl, missing) = (nil, nil, error.message)
        }
    }

    /// Adds the section.
    func write(to html: inout HTML) {
        html.element("section", ["class": "request"]) { html in
            html.element("h2", "Request")
            guard let request else {
                html.element("p", ["class": "empty"], "The request is not known: \(missing ?? "").")
                return
            }
            html.element("p", ["class": "line"]) { html in
                html.element("b", request.method)
                html.text(" ")
                html.element("code", request.url)
            }
            HeaderList.write(request.headers, to: &html)
            if isLarge {
                large(to: &html)
            } else {
                body(request, to: &html)
            }
            html.element(
                "p", ["class": "empty"],
                "It is built from the job and its service as they are now. Secrets are shown as ***.")
        }
    }

    private func large(to html: inout HTML) {
        html.element("p") { html in
            html.text("The body is larger than \(JobRequestPart.largestBody >> 10) KiB. Read it with ")
            html.element("code", "select body, body_json, body_form, body_parts from postrider.jobs where id = \(job)")
            html.text(".")
        }
    }

    private func body(_ request: ShownRequest, to html: inout HTML) {
        if request.body == .none { return }
        html.element("h3", request.isGzip ? "Body, sent in gzip" : "Body")
        switch request.body {
        case .none: break
        case .bytes(let bytes, _): view("body of the request", bytes, to: &html)
        case .form(let fields):
            html.element("dl", ["class": "headers"]) { html in
                for field in fields {
                    html.element("dt", field.name)
                    html.element("dd") { $0.element("code", field.value) }
                }
            }
        case .parts(let parts):
            for part in parts {
                html.element("p", ["class": "line"]) { html in
                    html.element("b", part.name)
                    let details = [part.sentFilename.map { "file name \($0)" }, part.sentType].compactMap(\.self)
                    html.element("span", ["class": "note"], details.joined(separator: ", "))
                }
                switch part.content {
                case .bytes(let bytes): view("part \(part.name)", bytes, to: &html)
                case .file(let path):
                    html.element("p", ["class": "empty"], "The content of the file \(path).")
                }
            }
        }
    }

    private func view(_ title: String, _ bytes: [UInt8], to html: inout HTML) {
        BodyView(title: title, bytes: bytes, size: bytes.count).write(to: &html)
    }
}
