// SPDX-License-Identifier: Apache-2.0

internal import Admin
internal import PGClient

/// The address of a worker's pages, and the token that their readers must send.
struct AdminPages: Equatable, Sendable {
    var address: AdminAddress
    /// The token. Never nil for an address that other machines can reach, and with acts.
    var token: AdminToken?
    /// Whether admins may act on these pages.
    var actsAllowed = false
    /// The connection string of acts; nil: the worker's own. It may contain a password.
    var actDatabase: String?

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

    /// `--http-actions`.
    static let actionsFlag = Flag(
        name: "http-actions", kind: .toggle,
        meaning: "let people act in the dashboard: retry, cancel, pause; it needs a token, and the role postrider_admin"
    )

    /// `--admin-database`.
    static let databaseFlag = Flag(
        name: "admin-database", kind: .text, placeholder: "URL", example: "postgresql://ops@localhost/app",
        fallback: "the worker's database", meaning: "the database of acts, for a login that is in postrider_admin")

    /// The address and the token that the flags give; nil without an address. The token is read even then, so that a
    /// bad token is reported at once.
    ///
    /// - Throws: `usage`.
    static func read(_ arguments: Arguments) throws(CommandError) -> AdminPages? {
        let token = try tokenSource.read(arguments, AdminToken.init(_:), reason: \.reason)
        let actsAllowed = arguments.isOn(actionsFlag.name)
        if actsAllowed && token == nil {
            throw .usage(
                arguments.place(of: actionsFlag), "acts need a token, also on the loopback",
                "give one with --\(tokenSource.flag.name) or \(tokenSource.variable)")
        }
        let actDatabase = try databaseText(arguments)
        guard let text = arguments.text(flag.name) else {
            guard actsAllowed else { return nil }
            throw .usage(
                arguments.place(of: actionsFlag), "no dashboard is served", "give its address with --\(flag.name)")
        }
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
        return AdminPages(address: address, token: token, actsAllowed: actsAllowed, actDatabase: actDatabase)
    }

    /// The connection string of `--admin-database`; nil without it.
    private static func databaseText(_ arguments: Arguments) throws(CommandError) -> String? {
        guard let text = arguments.text(databaseFlag.name) else { return nil }
        do throws(PGError) {
            _ = try PGConnectionString(text)
            return text
        } catch {
            throw .usage(
                arguments.place(of: databaseFlag), error.message, "give one like \(databaseFlag.example)")
        }
    }

    /// Checks whether the login of acts may change to `postrider_admin`, as each act does.
    ///
    /// - Throws: `usage` with the statement that grants it, `unreachable`.
    func checkActs(_ database: String) throws(CommandError) {
        guard actsAllowed else { return }
        let place = "--\(AdminPages.actionsFlag.name)"
        let membership: RoleMembership
        do throws(PGError) {
            let connection = try PGConnection(actDatabase ?? database)
            try connection.useSystemSearchPath()
            membership = try RoleMembership.found("postrider_admin", connection)
        } catch {
            throw CommandError(
                .unreachable,
                "database of acts cannot be reached: \(error.message); check --\(AdminPages.databaseFlag.name)")
        }
        guard membership.exists else {
            throw .usage(
                place, "there is no role postrider_admin", "run worker migrate as a role with CREATEROLE")
        }
        guard let grant = membership.grantToChange else { return }
        throw .usage(place, "\(membership.login) is not in postrider_admin", grant)
    }
}
