// SPDX-License-Identifier: Apache-2.0

internal import CHTTPServer

/// Who may read the pages that tell of jobs.
struct AdminGate: Sendable {
    /// What readers must show; nil: they are on this machine, and nothing is asked.
    let token: AdminToken?

    /// Why a reader gets nothing; nil: it may read.
    ///
    /// Without a token the name that was asked for must be an address or `localhost`: a page of the web may point a
    /// name of its own to 127.0.0.1, and would then read these as its own (DNS rebinding).
    func refusal(of request: PageRequest) -> Page? {
        if let token {
            guard !token.isShown(by: request.authorization) else { return nil }
            return Page(
                status: 401,
                body: "show the token: Authorization: Bearer …, or as the password of any name\n")
        }
        guard let host = request.host, !AdminGate.isAddress(host) else { return nil }
        return Page(
            status: 421,
            body:
                "ask for an address like 127.0.0.1 or for localhost; other names need a token, see --http-token-file\n")
    }

    /// Whether a header `Host` names `localhost` or an address in numbers, with or without a port.
    private static func isAddress(_ host: String) -> Bool {
        let name: Substring
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
            name = host[..<end].dropFirst()
        } else {
            name = host.prefix { $0 != ":" }
        }
        return unsafe name.lowercased() == "localhost" || chttpserver_is_loopback(String(name)) >= 0
    }
}
