// SPDX-License-Identifier: Apache-2.0

internal import Admin
internal import Engine
internal import Glibc
internal import HTTPAgent
internal import JobStore
internal import PGClient
internal import Reactor

/// `worker [run]`: makes calls until a signal. With `--once` it stops when no call is left.
enum RunCommand {
    static let spec = CommandSpec(
        name: "run", group: .start,
        summary: "claim jobs and make their calls; worker without a command does the same",
        example: "run --concurrency 64 --http 127.0.0.1:9464",
        flags: RunConfiguration.flags,
        details: [
            "On SIGTERM, SIGINT or SIGHUP it claims no more jobs, finishes running calls within --drain and hands the others",
            "back. A second signal stops it at once. Under nohup, SIGHUP is ignored.",
            "With --once it ends in the same way when no job is ready or running: for cron, CI and tests.",
        ],
        run: { (arguments) throws(CommandError) in
            let configuration = try RunConfiguration(arguments)
            let log = SharedLog(configuration.logFormat)
            let schema = try check(arguments, log)
            try configuration.pages?.checkActs(configuration.database)
            return try serve(configuration, schema, log, NotifySocket(environment: arguments.environment))
        })

    /// Checks whether this login can run jobs. Its connection ends afterwards.
    ///
    /// It uses one transaction, so that names are looked up in the system's schema even behind a pooler. The role's
    /// time limits for transactions do not end it.
    private static func check(_ arguments: Arguments, _ log: SharedLog) throws(CommandError) -> SchemaCheck {
        let connection = try Database.connect(arguments)
        do throws(PGError) {
            try connection.execute(
                """
                begin; \(SearchPath.transaction); set local idle_in_transaction_session_timeout = 0;
                select \(TransactionTimeout.off(isLocal: true))
                """)
        } catch {
            throw Database.failure(error)
        }
        try Database.checkWrites(connection)
        // Rights are checked before the schema: a role without rights cannot read the schema.
        try Database.checkRights(connection)
        if let hidden = try Database.rowSecurity(connection) {
            log.write(LogEvent(.warning, "row_security", [("hint", .text(hidden.text))]))
        }
        return try Database.check(connection)
    }

    /// Makes calls until a signal. The schema has been checked.
    ///
    /// - Parameters:
    ///   - schema: checks the schema again when a statement fails; nil: no check.
    ///   - log: the log to write to; nil: a new one.
    ///   - notifySocket: the service manager that started this process; nil: none did.
    ///   - onEvent: gets each logged event, on the loop's thread.
    static func serve(
        _ configuration: RunConfiguration, _ schema: SchemaCheck? = nil, _ log: SharedLog? = nil,
        _ notifySocket: NotifySocket? = nil,
        onEvent: @escaping @Sendable (EngineEvent) -> Void = { _ in }
    ) throws(CommandError) -> ExitCode {
        let log = log ?? SharedLog(configuration.logFormat)
        let concurrency = affordable(configuration.concurrency, log)
        let database: PGConnectionString
        do throws(PGError) {
            database = try PGConnectionString(configuration.database)
        } catch {
            throw Database.unreachable(error)
        }
        var engine = EngineConfiguration(
            database: database, name: "\(Host.name):\(getpid())", queues: configuration.queues,
            concurrency: concurrency, allowsPrivateNetwork: configuration.allowsPrivate,
            drain: configuration.drain, usesSessions: configuration.usesPreparedStatements,
            log: { event in
                log.write(LogEvent(event))
                onEvent(event)
            })
        engine.appVersion = configuration.appVersion
        engine.environment = configuration.environment
        engine.makesNoCalls = configuration.makesNoCalls
        engine.memoryBudget = configuration.memory
        engine.runsOnce = configuration.runsOnce
        engine.filesRoot = configuration.files
        engine.webhookKeys = configuration.webhookKeys
        engine.secretKeys = configuration.secretKeys
        engine.traces = configuration.traces
        engine.spanExport = configuration.spanExport
        let server = try configuration.pages.map { pages throws(CommandError) in
            AdminServer(
                slots: concurrency, database: database, token: pages.token,
                actions: try actions(pages, database, log))
        }
        engine.workerHealth = server?.workerHealth
        engine.workerMetrics = server?.workerMetrics
        engine.schema = schema
        engine.notifySocket = notifySocket
        let loop: RunLoop
        do throws(EngineError) {
            loop = try RunLoop(engine)
        } catch {
            throw CommandError(.internalError, error.message)
        }
        log.write(LogEvent(.info, "worker_started", [("concurrency", .number(concurrency))]))
        if configuration.makesNoCalls {
            log.write(LogEvent(.warning, "stubs_only", [("hint", .text("jobs of services without a stub fail"))]))
        }
        if let server, let pages = configuration.pages {
            do throws(AdminError) {
                try server.start(at: pages.address)
            } catch {
                throw .usage(
                    "--\(AdminPages.flag.name)", "\(pages.address) \(error.reason)",
                    "give one that is free, like \(AdminPages.flag.example)")
            }
            log.write(LogEvent(.info, "http_listening", [("address", .text("\(pages.address)"))]))
        }
        defer { server?.stop() }
        switch loop.run() {
        case .clean: return .clean
        case .abandoned: return .internalError
        case .unreachable:
            throw CommandError(
                .unreachable,
                "the database could not be reached at the end; "
                    + "another worker repeats the running calls 10 s after it is back"
            )
        case .schemaMismatch(let reason): throw CommandError(.schema, reason)
        }
    }

    /// The settings of acts in the dashboard; nil: it only reads.
    private static func actions(
        _ pages: AdminPages, _ database: PGConnectionString, _ log: SharedLog
    ) throws(CommandError) -> ActionSettings? {
        guard pages.actsAllowed else { return nil }
        let own: PGConnectionString
        do throws(PGError) {
            own = try pages.actDatabase.map { text throws(PGError) in try PGConnectionString(text) } ?? database
        } catch {
            throw Database.unreachable(error)
        }
        return ActionSettings(database: own) { action in
            log.write(
                LogEvent(
                    .info, "admin_action",
                    [
                        ("actor", .text(action.actor)), ("action", .text(action.action)),
                        ("target", .text(action.target)), ("count", .number(Int(action.count))),
                    ]))
        }
    }

    /// Raises the limit of descriptors. Returns the concurrency, reduced if the limit is too low for it.
    private static func affordable(_ concurrency: Int, _ log: SharedLog) -> Int {
        let budget = DescriptorBudget.raised()
        guard budget.mostCalls < concurrency else { return concurrency }
        let needed = DescriptorBudget.needed(forCalls: concurrency)
        log.write(
            LogEvent(
                .warning, "concurrency_lowered",
                [
                    ("from", .number(concurrency)), ("to", .number(budget.mostCalls)),
                    ("descriptors", .number(budget.allowed)),
                    ("hint", .text("start the worker with ulimit -n \(needed), or lower --concurrency")),
                ]))
        return budget.mostCalls
    }
}
