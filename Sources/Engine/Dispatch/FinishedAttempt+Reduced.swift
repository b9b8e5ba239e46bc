// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import JobStore

extension FinishedAttempt {
    /// The attempt without the parts that the database may have refused: the body, the cookies and the URL that
    /// redirects led to.
    ///
    /// The job ends with the real status and headers. An at_most_once job ends as unknown, unless nothing was sent.
    ///
    /// - Parameter reason: the beginning of the message for the user.
    func reduced(_ reason: String) -> FinishedAttempt {
        var attempt = self
        attempt.isReduced = true
        attempt.isJudged = false
        var mayHaveActed = verdict.kind == .unknown
        switch outcome?.ending {
        case .response(var response):
            mayHaveActed = true
            response.body = []
            attempt.outcome?.ending = .response(response)
        case .failure(let failure): mayHaveActed = failure.sent == .maybe
        case nil: break
        }
        attempt.outcome?.cookies = nil
        attempt.outcome?.landedAt = nil
        let isUnknown = mayHaveActed && (isAtMostOnce || verdict.kind == .unknown)
        let advice =
            outcome == nil
            ? "" : isUnknown ? "; see what the server did before you retry the job" : "; status and headers are kept"
        attempt.verdict = Verdict(isUnknown ? .unknown : .failed, .internal, reason + advice)
        return attempt
    }
}
