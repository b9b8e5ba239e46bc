// SPDX-License-Identifier: Apache-2.0

internal import Engine
internal import SecretSealing
internal import WebhookSigning

/// All settings of `worker run`, checked.
struct RunConfiguration: Equatable, Sendable {
    /// For libpq; may hold a password, so it is never shown.
    var database: String
    /// Calls in flight.
    var concurrency: Int
    /// Queues to take jobs of; empty: every queue.
    var queues: [String]
    /// Bytes that request bodies, answers and unwritten results may take.
    var memory: Int
    /// How long a stop waits for running calls.
    var drain: Duration
    /// Whether the worker ends when nothing is left to do.
    var runsOnce: Bool
    /// Whether private, loopback and link-local addresses may be called.
    var allowsPrivate: Bool
    /// Whose rows of `servers` are used.
    var environment: String
    /// Part of the cache metadata; nil: none.
    var appVersion: String?
    /// The directory that files of jobs stay below; nil: jobs with files are refused.
    var files: String?
    /// What webhooks are signed with; nil: they are refused.
    var webhookKeys: WebhookKeys?
    /// What secrets of credentials are sealed with; nil: only those that are not sealed can be used.
    var secretKeys: SecretKeys?
    /// Where health and metrics are served; nil: nowhere.
    var pages: AdminPages?
    /// Off behind PgBouncer in transaction mode.
    var usesPreparedStatements: Bool
    /// How log lines look.
    var logFormat: LogFormat

    /// The flags of `run`, shared with what starts workers itself.
    static let flags = [
        Flag(
            name: "concurrency", kind: .whole(1...10_000), placeholder: "N", example: "8", fallback: "8",
            meaning: "calls in flight"),
        Database.flag,
        Flag(
            name: "queue", kind: .text, placeholder: "NAME", example: "mail", isRepeatable: true,
            fallback: "every queue", meaning: "take jobs of this queue only"),
        Flag(
            name: "memory", kind: .size(EngineConfiguration.leastMemory...(1 << 40)), placeholder: "SIZE",
            example: "512MiB", fallback: SizeText.format(EngineConfiguration.standardMemory),
            meaning: "most memory for request bodies, answers and results; the worker itself takes up to 64MiB more"),
        Flag(
            name: "drain", kind: .duration(.zero ... .seconds(86_400)), placeholder: "DURATION", example: "30s",
            fallback: "30s", meaning: "how long a stop waits for running calls"),
        Flag(
            name: "once", kind: .toggle,
            meaning: "end when nothing is left to do; what is scheduled for later or paused is not waited for"),
        Flag(name: "allow-private", kind: .toggle, meaning: "allow private, loopback and link-local addresses"),
        Flag(
            name: "environment", kind: .text, placeholder: "NAME", example: "test", fallback: "release",
            meaning: "which servers to call, of services that have several"),
        Flag(
            name: "files", kind: .text, placeholder: "DIR", example: "/var/lib/postrider", fallback: "none",
            meaning: "directory of downloads and uploaded files"),
        WebhookSecrets.source.flag, SecretKey.source.flag, AdminPages.flag, AdminPages.tokenSource.flag,
        Flag(
            name: "app-version", kind: .text, placeholder: "V", example: "2.1",
            meaning: "version of your application; cached answers of another version are not served"),
        Flag(
            name: "prepare", kind: .choice(["on", "off"]), placeholder: "on|off", example: "off", fallback: "on",
            meaning: "prepared statements; off behind PgBouncer in transaction mode"),
        Flag(
            name: "log-format", kind: .choice(["text", "json", "auto"]), placeholder: "FORMAT", example: "json",
            fallback: "auto: text on a terminal, else json", meaning: "text, json or auto"),
    ]

    /// Reads the checked flags. - Throws: `usage` for a connection string that libpq cannot read.
    init(_ arguments: Arguments) throws(CommandError) {
        try self.init(arguments, database: Database.connectionString(arguments))
    }

    /// Reads the checked flags but that of the database.
    init(_ arguments: Arguments, database: String) throws(CommandError) {
        self.database = database
        concurrency = arguments.whole("concurrency", default: 8)
        queues = arguments.texts("queue")
        memory = arguments.size("memory", default: EngineConfiguration.standardMemory)
        drain = arguments.duration("drain", default: .seconds(30))
        runsOnce = arguments.isOn("once")
        allowsPrivate = arguments.isOn("allow-private")
        environment = arguments.text("environment") ?? "release"
        appVersion = arguments.text("app-version")
        files = arguments.text("files")
        if let files { try FilesRoot.check(files) }
        webhookKeys = try WebhookSecrets.read(arguments)
        secretKeys = try SecretKey.read(arguments)
        pages = try AdminPages.read(arguments)
        usesPreparedStatements = arguments.text("prepare") != "off"
        logFormat =
            arguments.text("log-format").flatMap(LogFormat.init) ?? (Terminal.isTerminal(.error) ? .text : .json)
    }
}
