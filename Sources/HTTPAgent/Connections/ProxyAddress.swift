// SPDX-License-Identifier: Apache-2.0
import CCurl
import JobModel

/// The parts of a proxy's URL. libcurl gets user and password separately, so that none of its messages can contain
/// them.
struct ProxyAddress {
    /// `scheme://host:port`.
    let url: String
    let host: String
    let user: String?
    let password: String?

    /// Accepts http, https and SOCKS 5 URLs. The proxy resolves names, for socks5 as for socks5h. Default ports: 80,
    /// 443, 1080.
    init(_ text: String) throws(CallRefusal) {
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }), let parser = unsafe curl_url() else {
            throw ProxyAddress.refusal("it holds a space or control character")
        }
        defer { unsafe curl_url_cleanup(parser) }
        guard unsafe curl_url_set(parser, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
            let scheme = unsafe CallURL.part(parser, CURLUPART_SCHEME),
            let host = unsafe CallURL.part(parser, CURLUPART_HOST), !host.isEmpty
        else { throw ProxyAddress.refusal("it is not a URL") }
        let (kind, usualPort) = try ProxyAddress.known(scheme)
        let port = unsafe CallURL.part(parser, CURLUPART_PORT) ?? usualPort
        guard port != "0" else { throw ProxyAddress.refusal("port 0 cannot be called") }
        let user = unsafe CallURL.decoded(parser, CURLUPART_USER)
        let password = unsafe CallURL.decoded(parser, CURLUPART_PASSWORD)
        if user == .broken || password == .broken {
            throw ProxyAddress.refusal("its user or password holds a control character")
        }
        self.host = host
        url = "\(kind)://\(host):\(port)"
        self.user = user == .absent ? nil : user.text
        self.password = password == .absent ? nil : password.text
    }

    /// libcurl's name for the kind of proxy, and the default port.
    private static func known(_ scheme: String) throws(CallRefusal) -> (name: String, port: String) {
        switch scheme {
        case "http": ("http", "80")
        case "https": ("https", "443")
        case "socks5", "socks5h": ("socks5h", "1080")
        default: throw refusal("its scheme is \(scheme); use http, https or socks5h")
        }
    }

    private static func refusal(_ reason: String) -> CallRefusal {
        CallRefusal(.config, "the service's proxy cannot be used: \(reason); write http://user:password@host:port")
    }
}
