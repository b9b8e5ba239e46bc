// SPDX-License-Identifier: Apache-2.0

/// Whether a POST comes from a page of this server. Pure.
///
/// Browsers state the origin of the page in `Origin` and `Sec-Fetch-Site`, and no script can change either. Other
/// programs must state one of them, too: a request without both is refused.
enum RequestSource {
    /// Why the request is refused; nil if it comes from a page of this server.
    static func refusal(of request: AdminRequest) -> String? {
        guard request.origin != nil || request.fetchSite != nil else {
            return "The request has neither Origin nor Sec-Fetch-Site, so it may come from another site."
        }
        if let site = request.fetchSite, site != "same-origin" {
            return "The request comes from another site (Sec-Fetch-Site)."
        }
        if let origin = request.origin, authority(origin) == nil || authority(origin) != host(of: request) {
            return "The request comes from another site: its Origin differs from its Host."
        }
        guard isForm(request.contentType) else {
            return "The Content-Type is not application/x-www-form-urlencoded."
        }
        return nil
    }

    /// The path and query of the page with the link, if that page is on this server; otherwise `/`.
    static func page(before request: AdminRequest) -> String {
        guard let referrer = request.referrer, let place = authority(referrer), place == host(of: request) else {
            return "/"
        }
        let rest = referrer.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }
        return path(String(rest))
    }

    /// A path of this server for a redirect. Anything else, and pages that confirm acts, become `/`.
    static func path(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.first == UInt8(ascii: "/"), bytes.count < 4000, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            bytes.count == 1 || (bytes[1] != UInt8(ascii: "/") && bytes[1] != UInt8(ascii: "\\"))
        else { return "/" }
        let name = text.prefix { $0 != "?" && $0 != "#" }
        return name == Actions.path && text != Actions.progressPath ? "/" : text
    }

    private static func host(of request: AdminRequest) -> String? {
        // With the port 80 of http and 443 of https, which browsers leave out.
        guard let host = request.host?.lowercased(), !host.isEmpty else { return nil }
        return [":80", ":443"].first { host.hasSuffix($0) }.map { String(host.dropLast($0.count)) } ?? host
    }

    /// `HOST:PORT` of an `http` or `https` URL, without a usual port.
    private static func authority(_ url: String) -> String? {
        let lower = url.lowercased()
        guard let scheme = ["http://", "https://"].first(where: lower.hasPrefix) else { return nil }
        let name = lower.dropFirst(scheme.count).prefix { $0 != "/" }
        let usual = scheme == "http://" ? ":80" : ":443"
        return name.isEmpty ? nil : String(name.hasSuffix(usual) ? name.dropLast(usual.count) : name)
    }

    private static func isForm(_ type: String?) -> Bool {
        let name = type?.prefix { $0 != ";" }.split(separator: " ")
        return name?.count == 1 && name?.first?.lowercased() == "application/x-www-form-urlencoded"
    }
}
