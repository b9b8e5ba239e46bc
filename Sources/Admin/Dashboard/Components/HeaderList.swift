// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The headers of a request or an answer.
enum HeaderList {
    /// Adds a list of the headers in a frame that can be closed.
    static func write(_ headers: [HTTPHeader], to html: inout HTML) {
        guard !headers.isEmpty else { return }
        html.element("details", ["open": ""]) { html in
            html.element("summary", "Headers (\(headers.count))")
            html.element("dl", ["class": "headers"]) { html in
                for header in headers {
                    html.element("dt", header.name)
                    html.element("dd") { $0.element("code", header.value) }
                }
            }
        }
    }
}
