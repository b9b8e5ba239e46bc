// SPDX-License-Identifier: Apache-2.0

/// The options of curl that this program knows, with their effects on a job or the reasons against them.
enum CurlOption {
    /// The bytes that a data option adds to the body.
    enum Data: Sendable {
        /// `@FILE` is read without line breaks and NULs.
        case ascii
        /// The bytes of `@FILE` are sent unchanged, line breaks included.
        case binary
        /// `@` has no meaning.
        case raw
        /// The value is percent-encoded: `CONTENT`, `=CONTENT`, `NAME=CONTENT`, `@FILE` or `NAME@FILE`.
        case encoded
        /// Like `binary`, with the headers of JSON.
        case json
    }

    /// The effect of an option. The second group takes a value.
    enum Effect: Sendable {
        case get, follow, head, literal, none
        case method, url, header, data(Data), form(isLiteral: Bool), user, cookie, agent, referer, bearer, time
        case redirects, valueOfNone
        case refused(String, String)

        /// Whether the next word is the value.
        var takesValue: Bool {
            switch self {
            case .get, .follow, .head, .literal, .none, .refused: false
            default: true
            }
        }
    }

    /// The option of a name with its dashes. Nil if it is unknown.
    static func effect(_ name: String) -> Effect? {
        if let effect = effects[name] { return effect }
        if name.hasPrefix("--no-"), case .none? = effects["--" + name.dropFirst(5)] { return Effect.none }
        return nil
    }

    private static let inService = "set it in a row of postrider.services, and name the service in the job"
    private static let inRow = "leave it out; --print gives an INSERT to which you can add"

    private static let effects: [String: Effect] = {
        var all: [String: Effect] = [:]
        let list: [([String], Effect)] = [
            (["-X", "--request"], .method), (["--url"], .url), (["-H", "--header"], .header),
            (["-d", "--data", "--data-ascii"], .data(.ascii)), (["--data-binary"], .data(.binary)),
            (["--data-raw"], .data(.raw)), (["--data-urlencode"], .data(.encoded)), (["--json"], .data(.json)),
            (["-F", "--form"], .form(isLiteral: false)), (["--form-string"], .form(isLiteral: true)),
            (["-u", "--user"], .user), (["-b", "--cookie"], .cookie), (["-A", "--user-agent"], .agent),
            (["-e", "--referer"], .referer), (["--oauth2-bearer"], .bearer), (["-m", "--max-time"], .time),
            (["--max-redirs"], .redirects), (["-w", "--write-out"], .valueOfNone),
            (["-G", "--get"], .get), (["-L", "--location"], .follow), (["-I", "--head"], .head),
            (["-g", "--globoff"], .literal),
            (
                [
                    "-s", "--silent", "-S", "--show-error", "-v", "--verbose", "-i", "--include", "-f", "--fail",
                    "--fail-with-body", "-#", "--progress-bar", "--progress-meter", "-N", "--buffer", "--compressed",
                    "--basic",
                ], .none
            ),
            (
                ["-k", "--insecure"],
                .refused("a job always checks the certificate", "leave it out; services.tls can name a CA")
            ),
            (["-x", "--proxy", "-U", "--proxy-user"], .refused("a job has no proxy of its own", inService)),
            (
                ["--cacert", "--capath", "-E", "--cert", "--key", "--pinnedpubkey"],
                .refused("a job has no TLS settings of its own", inService)
            ),
            (["--interface", "--connect-timeout"], .refused("it is a setting of a service", inService)),
            (
                ["-o", "--output", "-O", "--remote-name", "-J", "--remote-header-name"],
                .refused("a job stores its answer in the database", inRow + " download_to")
            ),
            (
                ["--retry", "--retry-delay", "--retry-all-errors"],
                .refused("a job retries by itself", inRow + " max_attempts")
            ),
            (["-r", "--range", "-C", "--continue-at"], .refused("it continues a download", inRow + " download_to")),
            (
                ["-c", "--cookie-jar", "-j", "--junk-session-cookies"],
                .refused("cookies are kept by a service", "leave it out; see services.cookies")
            ),
            (
                ["-n", "--netrc", "--netrc-file", "--netrc-optional"],
                .refused("a login in a file of curl is not read", "give -u USER:PASSWORD")
            ),
            (
                ["--digest", "--ntlm", "--negotiate", "--anyauth", "--aws-sigv4"],
                .refused("a job sends a password as Basic authentication only", "leave it out")
            ),
            (
                ["-0", "--http1.0", "--http1.1", "--http2", "--http2-prior-knowledge", "--http3"],
                .refused("a worker chooses the HTTP version", "leave it out")
            ),
            (["--location-trusted"], .refused("a job sends no secrets to another origin", "give -L")),
            (["-:", "--next"], .refused("a job makes one request", "give one command for each request")),
            (["-K", "--config"], .refused("a file with options of curl is not read", "give the options themselves")),
            (["-T", "--upload-file"], .refused("it uploads a file as it is", "give -X PUT --data-binary @FILE")),
        ]
        for (names, effect) in list { for name in names { all[name] = effect } }
        return all
    }()
}
