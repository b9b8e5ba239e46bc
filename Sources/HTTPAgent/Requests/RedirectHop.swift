// SPDX-License-Identifier: Apache-2.0
import JobModel

/// The next step of a call after an answer that redirects. Pure.
enum RedirectHop {
    /// The next request of the call.
    ///
    /// - Parameter staysWithHost: whether it may carry the secrets of the call.
    case request(Flight, staysWithHost: Bool)
    /// The rules forbid the hop. The text is the message of the failure.
    case denied(String)

    /// Decides by the rules for redirects (RFC 9110 §15.4) and for secrets.
    static func after(_ flight: Flight, status: Int, location: String) -> RedirectHop {
        guard flight.redirects < flight.call.limits.maxRedirects else {
            return .denied("more than \(flight.call.limits.maxRedirects) redirects; call the final URL instead")
        }
        let url: CallURL
        do throws(CallURL.Refusal) {
            url = try flight.url.resolving(location)
        } catch {
            return .denied("status \(status) redirects to a URL that may not be called: \(error.message)")
        }
        var next = flight
        let (method, keepsBody) = RedirectRules.next(flight.method, status: status)
        next.method = method
        next.keepsBody = flight.keepsBody && keepsBody
        let staysWithHost = url.hasSameOrigin(as: flight.url) || flight.url.isUpgrade(to: url)
        // A body often contains secrets like a header does. It goes only to the host that it was meant for.
        if !staysWithHost, next.keepsBody, flight.call.body != .none {
            return .denied(
                "status \(status) asks to send the body from \(flight.url.origin) to another origin, \(url.origin); "
                    + "if you trust that origin, call it directly"
            )
        }
        next.leftOrigin = flight.leftOrigin || !staysWithHost
        if flight.transport?.proxy != nil, !flight.call.allowsPrivateNetwork, let reason = url.privateHostReason {
            return .denied("status \(status) redirects to a URL that may not be called: the host \(reason)")
        }
        next.redirects += 1
        next.url = url
        return .request(next, staysWithHost: staysWithHost)
    }
}
