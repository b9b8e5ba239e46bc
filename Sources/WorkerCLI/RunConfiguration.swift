// SPDX-License-Identifier: Apache-2.0

internal import Engine
internal import JobModel
internal import SecretSealing
internal import WebhookSigning

/// All settings of `worker run`, checked.
struct RunConfiguration: Equatable, Sendable {
    /// The connection string for libpq. It may contain a password, so it is never shown.
    var database: String
    /// The most calls in flight.
    var concurrency: Int
    /// The queues to take jobs from; empty: all queues.
    var queues: [String]
    /// The bytes that request bodies, answers and unwritten results may take.
    var memory: Int
    /// How long a stop waits for running calls.
    var drain: Duration
    /// Whether the worker ends when no work is left.
    var runsOnce: Bool
    /// Whether private, loopback and link-local addresses may be called.
    var allowsPrivate: Bool
    /// Whether only stubs answer, and no real call is made.
    var makesNoCalls: Bool
    /// The environment whose rows of `servers` are used.
    var environment: String
    /// The application version in the cache metadata; nil: none.
    var appVersion: String?
    /// The directory that contains all files of jobs; nil: jobs with files are refused.
    var files: String?
    /// The keys that sign webhooks; nil: webhooks are refused.
    var webhookKeys: WebhookKeys?
    /// The keys that seal credentials' secrets; nil: the worker can only use unsealed secrets.
    var secretKeys: SecretKeys?
    /// The address and token of dashboard, health and metrics; nil: not served.
    var pages: AdminPages?
    /// The handling of the traces of jobs.
    var traces: TraceMode
    /// Where spans go; nil: no spans are written.
    var spanExport: SpanExport?
    /// Whether statements are prepared. False behind PgBouncer in transaction mode.
    var usesPreparedStatements: Bool
    var logFormat: LogFormat

    /// The flags of `run`, shared with commands that start a worker.
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
            meaning: "memory for request bodies, answers and results; the worker takes up to 64MiB more"),
        Flag(
            name: "drain", kind: .duration(.zero ... .seconds(86_400)), placeholder: "DURATION", example: "30s",
            fallback: "30s", meaning: "how long a stop waits for running calls"),
        Flag(
            name: "once", kind: .toggle,
            meaning: "end when no job is left; it does not wait for later or paused jobs"),
        Flag(name: "allow-private", kind: .toggle, meaning: "allow private, loopback and link-local addresses"),
        Flag(
            name: "stubs-only", kind: .toggle,
            meaning: "make no real call; jobs of services without a stub fail"),
        Flag(
            name: "environment", kind: .text, placeholder: "NAME", example: "test", fallback: "release",
            meaning: "which servers to call if a service has several"),
        Flag(
            name: "files", kind: .text, placeholder: "DIR", example: "/var/lib/postrider", fallback: "none",
            meaning: "directory of downloads and uploaded files"),
        WebhookSecrets.source.flag, SecretKey.source.flag, AdminPages.flag, AdminPages.tokenSource.flag,
        AdminPages.actionsFlag, AdminPages.databaseFlag, TraceSettings.flag,
        Flag(
            name: "app-version", kind: .text, placeholder: "V", example: "2.1",
            meaning: "version of your application; cached answers of another version are not served"),
        Flag(
            name: "prepare", kind: .choice(["on", "off"]), placeholder: "on|off", example: "off", fallback: "on",
            meaning: "prepared statements; off behind PgBouncer in transaction mode"),
        Flag(
            name: "log-format", kind: .choice(["text", "json", "auto"]), placeholder: "FORMAT", example: "json",
            fallback: "auto: text on a terminal, otherwise json", meaning: "text, json or auto"),
    ]

    /// Reads the checked flags.
    ///
    /// - Throws: `usage` for a value that cannot be used, such as a connection string that libpq cannot read.
    init(_ arguments: Arguments) throws(CommandError) {
        try self.init(arguments, database: Database.connectionString(arguments))
    }

    /// Reads the checked flags. The connection string is given, so `--database` is not read.
    ///
    /// - Throws: `usage` for an unusable `--files`, secret, key, token or address.
    init(_ arguments: Arguments, database: String) throws(CommandError) {
        self.database = database
        concurrency = arguments.whole("concurrency", default: 8)
        queues = arguments.texts("queue")
        memory = arguments.size("memory", default: EngineConfiguration.standardMemory)
        drain = arguments.duration("drain", default: .seconds(30))
        runsOnce = arguments.isOn("once")
        allowsPrivate = arguments.isOn("allow-private")
        makesNoCalls = arguments.isOn("stubs-only")
        environment = arguments.text("environment") ?? "release"
        appVersion = arguments.text("app-version")
        files = arguments.text("files")
        if let files { try FilesRoot.check(files) }
        webhookKeys = try WebhookSecrets.read(arguments)
        secretKeys = try SecretKey.read(arguments)
        pages = try AdminPages.read(arguments)
        let settings = try TraceSettings(arguments)
        traces = settings.mode
        spanExport = settings.export
        usesPreparedStatements = arguments.text("prepare") != "off"
        // `auto` is not a LogFormat, so it is handled like a missing flag.
        logFormat =
            arguments.text("log-format").flatMap(LogFormat.init) ?? (Terminal.isTerminal(.error) ? .text : .json)
    }
}
