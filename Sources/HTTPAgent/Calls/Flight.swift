// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// One running call: its handle, and the values that a redirect may change.
struct Flight {
    var transfer: CurlTransfer
    let call: HTTPCall
    var url: CallURL
    /// The login from the user and password in the call's URL. Redirects within the origin use it, too.
    let authorization: String?
    var method: HTTPMethod
    var keepsBody = true
    /// Whether a redirect led to another host, or from https to http. It stays true even if a later redirect leads
    /// back: then that hop, too, gets no secrets.
    var leftOrigin = false
    /// The call's transport. Another host does not get its client certificate.
    var transport: Transport?
    /// The jar when the call left its origin. Other origins get none of its cookies.
    var cookiesOfOrigin: [String] = []
    var redirects = 0
    /// Whether the call was begun again because a server at a cached address had the wrong certificate.
    var hasLookedAgain = false
    /// The time and bytes of the earlier sendings of this call.
    var elapsedMicroseconds: Int64 = 0
    var bytesSent: Int64 = 0
    var bytesReceived: Int64 = 0

    /// A call before its first sending.
    init(transfer: CurlTransfer, call: HTTPCall, url: CallURL) {
        self.transfer = transfer
        self.call = call
        self.url = url
        authorization = url.authorization
        method = call.method
        transport = call.transport
    }

    /// Adds time and bytes of a sending that ended without an outcome.
    mutating func add(_ result: ccurl_result) {
        unsafe elapsedMicroseconds += result.total_us
        unsafe bytesSent += result.bytes_sent
        unsafe bytesReceived += result.bytes_received
    }

    /// Whether the call follows an answer.
    func follows(_ result: ccurl_result) -> Bool {
        unsafe RedirectRules.isFollowed(
            Int(result.status), hasLocation: result.location != nil, maxRedirects: call.limits.maxRedirects)
    }

    /// Whether the request sends a body, possibly an empty one. POST, PUT and PATCH without a body send
    /// `Content-Length: 0` (RFC 9110 §8.6).
    ///
    /// HEAD never sends a body: libcurl would then wait for one in the answer, and §9.3.2 advises against it.
    var sendsBody: Bool { Flight.sendsBody(method, call, keepsBody: keepsBody) }

    /// Whether a request with this method sends the body of a call.
    static func sendsBody(_ method: HTTPMethod, _ call: HTTPCall, keepsBody: Bool) -> Bool {
        switch method {
        case .post, .put, .patch: true
        case .head: false
        case .get, .delete, .options: keepsBody && call.body != .none
        }
    }

    /// Whether this request may be sent again at once. An idempotency key counts only within its origin.
    var isRepeatable: Bool { call.isRepeatable && (method.isIdempotent || !leftOrigin) }
}
