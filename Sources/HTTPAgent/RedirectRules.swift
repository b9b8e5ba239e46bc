// SPDX-License-Identifier: Apache-2.0
import JobModel

/// Which answers are followed and what becomes of the request (RFC 9110 §15.4).
enum RedirectRules {
    /// Only these with a Location are; 300, 304 and the rest are answers like any other.
    static func isRedirect(_ status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// The next method and whether the body stays with it.
    static func next(_ method: HTTPMethod, status: Int) -> (method: HTTPMethod, keepsBody: Bool) {
        switch status {
        case 303: (method == .head ? .head : .get, false)
        case 301, 302: method == .post ? (.get, false) : (method, true)
        default: (method, true)
        }
    }
}
