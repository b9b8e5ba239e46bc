// SPDX-License-Identifier: Apache-2.0

internal import Admin

/// Where a worker serves its pages, and what their readers must show. The token comes from a file or the environment, never from the
/// command line, which every user of the machine can read.
struct AdminPages: Equatable, Sendable {
    /// Where.
    var address: AdminAddress
    /// Never nil for an address that others than this machine reach.
    var token: AdminToken?

    /// `--http`.
    static let flag = Flag(
        name: "http", kind: .text, placeholder: "ADDR:PORT", example: "127.0.0.1:9464", fallback: "not served",
        meaning: "serve /healthz, /readyz and /metrics here; beyond this machine with a token")

    /// `--http-token-file`.
    static let tokenFlag = Flag(
        name: "http-token-file", kind: .text, placeholder: "FILE", example: "/etc/postrider/http-token",
        fallback: "the token in POSTRIDER_HTTP_TOKEN, else none",
        meaning: "what readers of /metrics show: Authorization: Bearer …")

    private static let tokenVariable = "POSTRIDER_HTTP_TOKEN"

    /// What the flags say; nil if nothing is to be served.
    ///
    /// - Throws: `usage`.
    static func read(_ arguments: Arguments) throws(CommandError) -> AdminPages? {
        guard let text = arguments.text(flag.name) else { return nil }
        let address: AdminAddress
        do throws(AdminError) {
            address = try AdminAddress(text)
        } catch {
            throw .usage("--\(flag.name)", "\(quoted(text)): \(error.reason)", "give one like \(flag.example)")
        }
        let token = try token(arguments)
        if !address.isLoopback && token == nil {
            throw .usage(
                "--\(flag.name)", "\(address) can be reached from other machines",
                "give a token with --\(tokenFlag.name), or an address like \(flag.example)")
        }
        return AdminPages(address: address, token: token)
    }

    private static func token(_ arguments: Arguments) throws(CommandError) -> AdminToken? {
        if let path = arguments.text(tokenFlag.name) {
            guard let text = SecretFile.contents(of: path) else {
                throw .usage("--\(tokenFlag.name)", "\(quoted(path)) cannot be read", "give a file that holds a token")
            }
            return try token(text, place: "--\(tokenFlag.name)")
        }
        guard let text = arguments.environment[tokenVariable], !text.isEmpty else { return nil }
        return try token(text, place: tokenVariable)
    }

    private static func token(_ text: String, place: String) throws(CommandError) -> AdminToken {
        do throws(AdminError) {
            return try AdminToken(text)
        } catch {
            throw .usage(
                place, error.reason, "give 16 random characters or more, like openssl rand -hex 32 prints them")
        }
    }
}
