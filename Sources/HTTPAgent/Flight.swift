// SPDX-License-Identifier: Apache-2.0
import JobModel

/// One call under way: its handle, and what a redirect would change.
struct Flight {
    var transfer: CurlTransfer
    let call: HTTPCall
    var url: CallURL
    /// By user and password in the call's URL. Redirects name none; those of the same origin are asked with it, too.
    let authorization: String?
    var method: HTTPMethod
    var keepsBody = true
    /// A redirect led to another host, or from https to http. Once true it stays true: what was withheld from one
    /// origin is not given to the next.
    var leftOrigin = false
    /// The call's; another host gets none of its client certificate.
    var transport: Transport?
    /// The jar as it was when the origin was left; to other origins nothing of it goes along.
    var cookiesOfOrigin: [String] = []
    var redirects = 0
    /// Its server was not whom it looked for at an address that was known before, so it was begun once more.
    var hasLookedAgain = false
    /// Of the sendings before this one.
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

    /// POST, PUT and PATCH without a body say so with `Content-Length: 0` (RFC 9110 §8.6); HEAD never carries
    /// one, since libcurl would then wait for one in the answer (§9.3.2 advises against it anyway).
    var sendsBody: Bool {
        switch method {
        case .post, .put, .patch: true
        case .head: false
        case .get, .delete, .options: keepsBody && call.body != .none
        }
    }

    /// Whether this request may be sent again at once: an idempotency key that makes it so stays behind with its
    /// origin.
    var isRepeatable: Bool { call.isRepeatable && (method.isIdempotent || !leftOrigin) }
}
