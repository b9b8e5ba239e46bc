// SPDX-License-Identifier: Apache-2.0

internal import Admin

/// The address of a worker's pages, and the token that their readers must send.
struct AdminPages: Equatable, Sendable {
    var address: AdminAddress
    /// The token. Never nil for an address that other machines can reach.
    var token: AdminToken?

    /// `--http`.
    static let flag = Flag(
        name: "http", kind: .text, placeholder: "ADDR:PORT", example: "127.0.0.1:9464", fallback: "not served",
        meaning: "serve the dashboard, /healthz, /readyz and /metrics at this address; a public one needs a token")

    /// `--http-token-file`.
    static let tokenSource = SecretSource(
        name: "http-token-file", variable: "POSTRIDER_HTTP_TOKEN", example: "/etc/postrider/http-token",
        fallback: "the token in POSTRIDER_HTTP_TOKEN, otherwise none",
        content: "16 random characters or more, like openssl rand -hex 32 prints them",
        meaning: "the token that readers send: Authorization: Bearer …, or as the password of any user name")

    /// The address and the token that the flags give; nil without an address. The token is read even then, so that a
    /// bad token is reported at once.
    ///
    /// - Throws: `usage`.
    static func read(_ arguments: Arguments) throws(CommandError) -> AdminPages? {
        let token = try tokenSource.read(arguments, AdminToken.init(_:), reason: \.reason)
        guard let text = arguments.text(flag.name) else { return nil }
        let place = arguments.place(of: flag)
        let address: AdminAddress
        do throws(AdminError) {
            address = try AdminAddress(text)
        } catch {
            throw .usage(place, "\(quoted(text)): \(error.reason)", "give one like \(flag.example)")
        }
        if !address.isLoopback && token == nil {
            throw .usage(
                place, "\(address) can be reached from other machines",
                "give a token with --\(tokenSource.flag.name), or an address like \(flag.example)")
        }
        return AdminPages(address: address, token: token)
    }
}
