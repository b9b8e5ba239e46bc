// SPDX-License-Identifier: Apache-2.0

internal import CPostgres
internal import Glibc

/// The connection options: checked once, and completed with the defaults of this program.
///
/// The user's text is a URL, the keyword form or empty (the `PG…` variables of libpq). Three defaults are added: among
/// several hosts only a server that accepts writes, keepalives that find a dead network within 20 s, and no Kerberos
/// probe. A `client_encoding` of the user is ignored.
///
/// It has no `description`, which could show the password. `summary` is for people.
///
/// C: `PQconninfoParse`, `PQconnectStartParams`.
public struct PGConnectionString: Sendable {
    private var options: [(keyword: String, value: String)]
    private let secrets: [String]
    /// Whether the user's text, or `PGTARGETSESSIONATTRS`, selects the kind of server.
    public let choosesServer: Bool

    /// Options that are added unless the user's text sets them.
    private static let additions: [(keyword: String, value: String)] = [
        ("fallback_application_name", "postrider"),
        // Debian's libpq would ask a Kerberos server first.
        ("gssencmode", "disable"),
        ("target_session_attrs", "read-write"),
        ("connect_timeout", "10"),
        ("keepalives_idle", "10"),
        ("keepalives_interval", "3"),
        ("keepalives_count", "3"),
        ("tcp_user_timeout", "15000"),
    ]
    /// Variables of libpq that count like the user's text.
    private static let variables = [
        "target_session_attrs": "PGTARGETSESSIONATTRS", "gssencmode": "PGGSSENCMODE",
        "connect_timeout": "PGCONNECT_TIMEOUT",
    ]
    /// This program reads and writes UTF-8 only. The text, a variable or a service file may set another encoding for
    /// other programs.
    private static let encoding = (keyword: "client_encoding", value: "UTF8")

    /// Reads the text.
    ///
    /// - Throws: `.connectionString`. The message quotes no part of the text, which may contain a password.
    public init(_ text: String) throws(PGError) {
        try self.init(text) { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
    }

    /// Reads the text with these environment variables.
    init(_ text: String, variable: (String) -> String?) throws(PGError) {
        var message: UnsafeMutablePointer<CChar>?
        let parsed = unsafe PQconninfoParse(text, &message)
        defer {
            unsafe PQconninfoFree(parsed)
            unsafe PQfreemem(message)
        }
        guard let parsed = unsafe parsed else {
            let reason = unsafe message.map { unsafe String(cString: $0) } ?? "out of memory"
            throw PGError(
                .connectionString, operation: "PQconninfoParse",
                "cannot read the connection string: \(Self.unquoted(PGError.firstLine(reason)))", isConfiguration: true)
        }
        var options: [(keyword: String, value: String)] = []
        var secrets: [String] = []
        var index = 0
        while let keyword = unsafe parsed[index].keyword {
            if let value = unsafe parsed[index].val {
                unsafe options.append((String(cString: keyword), String(cString: value)))
                // `*` marks passwords; see `PQconninfoOption.dispchar`.
                if unsafe parsed[index].dispchar.map({ unsafe $0.pointee }) == CChar(0x2A) {
                    unsafe secrets.append(String(cString: value))
                }
            }
            index += 1
        }
        choosesServer =
            variable("PGTARGETSESSIONATTRS") != nil || options.contains { $0.keyword == "target_session_attrs" }
        options.removeAll { $0.keyword == Self.encoding.keyword }
        options.append(Self.encoding)
        for addition in Self.additions where !options.contains(where: { $0.keyword == addition.keyword }) {
            if let name = Self.variables[addition.keyword], variable(name) != nil { continue }
            options.append(addition)
        }
        // libpq would read these variables itself, but only a list that is known here can be rotated. A service file
        // takes precedence over them.
        if !options.contains(where: { $0.keyword == "service" }), variable("PGSERVICE") == nil {
            for (keyword, name) in [("host", "PGHOST"), ("hostaddr", "PGHOSTADDR"), ("port", "PGPORT")] {
                guard !options.contains(where: { $0.keyword == keyword }), let value = variable(name) else { continue }
                options.append((keyword, value))
            }
        }
        for port in (options.first { $0.keyword == "port" }?.value ?? "").split(separator: ",") {
            guard let number = Int(port), 1...65_535 ~= number else {
                throw PGError(
                    .connectionString, operation: "PQconninfoParse",
                    "cannot read the connection string: its port is not a number from 1 to 65535", isConfiguration: true
                )
            }
        }
        if let password = variable("PGPASSWORD") { secrets.append(password) }
        self.options = options
        self.secrets = secrets.filter { !$0.isEmpty }
    }

    /// Host, port, database and user for messages, as far as the text names them: `host=db1 dbname=app`.
    public var summary: String {
        let shown = ["host", "hostaddr", "port", "dbname", "user"].compactMap { keyword in
            value(keyword).map { "\(keyword)=\($0)" }
        }
        return shown.isEmpty ? "libpq's defaults" : redact(shown.joined(separator: " "))
    }

    /// The same server with another database.
    public func database(_ name: String) -> PGConnectionString {
        replacing("dbname", name)
    }

    /// The same options for a reader: any server except a standby, also one that is read-only by default.
    public var primary: PGConnectionString { replacing("target_session_attrs", "primary") }

    /// The time limit of one attempt in whole seconds, at least 1.
    var connectTimeoutSeconds: Int {
        let variable = unsafe getenv("PGCONNECT_TIMEOUT").map { unsafe String(cString: $0) }
        let text = value("connect_timeout") ?? variable
        guard let seconds = text.flatMap({ Int($0) }), seconds > 0 else { return 10 }
        return min(seconds, 3600)
    }

    /// How many hosts the text lists.
    var hostCount: Int {
        ["host", "hostaddr"].compactMap { value($0)?.split(separator: ",", omittingEmptySubsequences: false).count }
            .max() ?? 1
    }

    /// The options with another first host.
    ///
    /// libpq tries the next host if one refuses. In asynchronous use it does not if a host stays silent. Then the next
    /// attempt must begin after that host.
    func rotated(by steps: Int) -> PGConnectionString {
        let count = hostCount
        guard count > 1, steps % count != 0 else { return self }
        var other = self
        for index in options.indices where ["host", "hostaddr", "port"].contains(options[index].keyword) {
            let parts = options[index].value.split(separator: ",", omittingEmptySubsequences: false)
            guard parts.count == count else { continue }
            let shift = steps % count
            other.options[index].value = (parts[shift...] + parts[..<shift]).joined(separator: ",")
        }
        return other
    }

    /// How many rotations bring the host after this one to the front.
    func steps(behind place: (host: String, port: String)) -> Int {
        func part(_ keyword: String, _ index: Int) -> String {
            let parts = value(keyword)?.split(separator: ",", omittingEmptySubsequences: false) ?? [""]
            return String(parts[min(index, parts.count - 1)])
        }
        let index = (0..<hostCount).first { index in
            let name = part("host", index)
            return (name.isEmpty ? part("hostaddr", index) : name) == place.host
                && ["", place.port].contains(part("port", index))
        }
        return (index ?? 0) + 1
    }

    /// The message without any text that may be a password.
    ///
    /// Passwords are known by value. If the password in a URL contains an unescaped `@`, `:` or `/`, the URL was split
    /// at the wrong place. Then libpq may quote a part of the password as host or port.
    func redact(_ message: String) -> String {
        var text = message
        if !text.hasPrefix("connection to server") { text = Self.unquoted(text) }
        for secret in secrets {
            // By bytes: in a text the first character of a password may have joined the one in front of it.
            let parts = Array(text.utf8).split(around: Array(secret.utf8))
            text = parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "***")
        }
        return text
    }

    /// Lends the options as the two parallel arrays of `PQconnectStartParams`.
    func withKeywords<Value>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Value?
    ) -> Value? {
        var keywords: [UnsafePointer<CChar>?] = unsafe options.map { unsafe UnsafePointer(strdup($0.keyword)) }
        var values: [UnsafePointer<CChar>?] = unsafe options.map { unsafe UnsafePointer(strdup($0.value)) }
        defer {
            unsafe (keywords + values).forEach { unsafe free(UnsafeMutableRawPointer(mutating: $0)) }
        }
        unsafe keywords.append(nil)
        unsafe values.append(nil)
        return unsafe keywords.withUnsafeBufferPointer { keywords in
            unsafe values.withUnsafeBufferPointer { values in
                guard let keywords = keywords.baseAddress, let values = values.baseAddress else { return nil }
                return unsafe body(keywords, values)
            }
        }
    }

    private func replacing(_ keyword: String, _ value: String) -> PGConnectionString {
        var other = self
        other.options.removeAll { $0.keyword == keyword }
        other.options.append((keyword, value))
        return other
    }

    private func value(_ keyword: String) -> String? {
        options.first { $0.keyword == keyword }?.value
    }

    /// The text with an ellipsis in place of everything from the first quotation mark to the last.
    private static func unquoted(_ text: String) -> String {
        let quote = UInt8(ascii: "\"")
        guard let first = text.utf8.firstIndex(of: quote), let last = text.utf8.lastIndex(of: quote), first < last
        else {
            return text
        }
        return String(text[..<first]) + "\"…" + String(text[last...])
    }
}

extension [UInt8] {
    /// The parts between the places of a mark, which is not empty.
    fileprivate func split(around mark: [UInt8]) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var rest = self[...]
        while let place = rest.firstRange(of: mark) {
            parts.append(rest[..<place.lowerBound])
            rest = rest[place.upperBound...]
        }
        return parts + [rest]
    }
}
