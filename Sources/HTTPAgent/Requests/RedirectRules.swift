// SPDX-License-Identifier: Apache-2.0
import JobModel

/// Which answers are followed, and how the request changes (RFC 9110 §15.4).
enum RedirectRules {
    /// Whether the status with a Location is followed. 300, 304 and others are ordinary answers.
    private static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Whether a call with this limit of redirects follows an answer.
    static func isFollowed(_ status: Int, hasLocation: Bool, maxRedirects: Int) -> Bool {
        isRedirect(status) && maxRedirects > 0 && hasLocation
    }

    /// The next method, and whether the request keeps its body.
    static func next(_ method: HTTPMethod, status: Int) -> (method: HTTPMethod, keepsBody: Bool) {
        switch status {
        case 303: (method == .head ? .head : .get, false)
        case 301, 302: method == .post ? (.get, false) : (method, true)
        default: (method, true)
        }
    }
}
