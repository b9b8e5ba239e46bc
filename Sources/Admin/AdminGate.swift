// SPDX-License-Identifier: Apache-2.0

internal import CHTTPServer

/// Decides which readers get the pages about jobs.
struct AdminGate: Sendable {
    /// The token that readers must send; nil: all readers are on this machine, and no token is needed.
    let token: AdminToken?

    /// The refusal of a reader; nil if it may read.
    ///
    /// Without a token the requested host must be an address or `localhost`. A page of the web may point its own name
    /// to 127.0.0.1, and would then read these pages as its own (DNS rebinding).
    func refusal(of request: AdminRequest) -> AdminResponse? {
        if let token {
            guard !token.isShown(by: request.authorization) else { return nil }
            return AdminResponse(
                status: 401,
                body: "a token is needed; send it as Authorization: Bearer TOKEN, or as the password of any user\n")
        }
        guard let host = request.host, !AdminGate.isAddress(host) else { return nil }
        return AdminResponse(
            status: 421,
            body:
                "this host name needs a token (--http-token-file); without it, use localhost or an IP address\n")
    }

    /// Whether a `Host` header is `localhost` or a numeric address, with or without a port. The C function returns -1
    /// for a text that is not an address.
    private static func isAddress(_ host: String) -> Bool {
        let name: Substring
        let port: Substring
        if host.hasPrefix("["), let end = host.lastIndex(of: "]") {
            name = host[..<end].dropFirst()
            port = host[host.index(after: end)...]
        } else {
            name = host.prefix { $0 != ":" }
            port = host[name.endIndex...]
        }
        guard port.isEmpty || port.hasPrefix(":") && port.utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
        else { return false }
        return unsafe name.lowercased() == "localhost" || chttpserver_is_loopback(String(name)) >= 0
    }
}
