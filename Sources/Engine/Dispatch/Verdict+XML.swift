// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import XMLCheck

extension Verdict {
    /// Turns a success into a failure if the answer's body is not well-formed XML.
    ///
    /// An answer passes if its status allows no body. The database checks JSON, which it stores as JSON. It stores XML
    /// as bytes, so the worker checks it.
    mutating func requireXML(of outcome: CallOutcome) {
        guard kind == .succeeded, case .response(let response) = outcome.ending,
            ![204, 205, 304].contains(response.status),
            let defect = XMLCheck.defect(of: response.body, charset: ContentType(of: response.headerBlock)?.charset)
        else { return }
        self = Verdict(.failed, .xmlInvalid, "the body is not well-formed XML: \(defect)", retryAfter: retryAfter)
    }
}
