// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import XMLCheck

extension Verdict {
    /// Turns a success into a failure if the answer's body is not well-formed XML.
    ///
    /// An answer that has no body by its status passes. JSON is looked at by the database, which keeps it as such; XML
    /// it keeps as bytes, so the look is the worker's.
    mutating func requireXML(of outcome: CallOutcome) {
        guard kind == .succeeded, case .response(let response) = outcome.ending,
            ![204, 205, 304].contains(response.status),
            let defect = XMLCheck.defect(of: response.body, charset: ContentType(of: response.headerBlock)?.charset)
        else { return }
        self = Verdict(.failed, .xmlInvalid, "the body is not well-formed XML: \(defect)", retryAfter: retryAfter)
    }
}
