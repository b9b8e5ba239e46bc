// SPDX-License-Identifier: Apache-2.0

public import JobModel
public import JobStore
public import PGClient
public import Reactor
public import SecretSealing
public import WebhookSigning

/// The settings of a worker process.
public struct EngineConfiguration: Sendable {
    /// The connection to the queue's database.
    public var database: PGConnectionString
    /// The worker's name for operators: host and process.
    public var name: String
    /// The queues to take jobs from; empty: all queues.
    public var queues: [String]
    /// The most calls in flight, at least 1.
    public var concurrency: Int
    /// Whether private, loopback and link-local addresses may be called.
    public var allowsPrivateNetwork: Bool
    /// The bytes that request bodies, answers in flight and unwritten results may take together.
    public var memoryBudget = EngineConfiguration.standardMemory
    /// How long a stop waits for running calls.
    public var drain: Duration
    /// Whether sessions outlive transactions. False behind PgBouncer in transaction mode: statements are not prepared,
    /// and polls find new jobs.
    public var usesSessions: Bool
    /// Version of the application that inserts the jobs, part of the cache metadata; nil: none.
    public var appVersion: String?
    /// The directory that contains all files of jobs; nil: jobs with files are refused.
    public var filesRoot: String?
    /// The keys that sign webhooks; nil: webhooks are refused.
    public var webhookKeys: WebhookKeys?
    /// The keys that seal secrets; nil: the worker can only use unsealed secrets.
    public var secretKeys: SecretKeys?
    /// Whether the worker ends when no work is left.
    public var runsOnce = false
    /// Whether only services with stubs are answered, and no real call is made.
    public var makesNoCalls = false
    /// The environment whose servers are used, for services with several.
    public var environment = "release"
    /// The handling of the traces of jobs.
    public var traces = TraceMode.carried
    /// Where spans go; nil: no spans are written.
    public var spanExport: SpanExport?
    /// Checks whether the schema still fits this worker; nil: it is not checked again.
    public var schema: SchemaCheck?
    /// Receives the state of the worker; nil: it is not recorded.
    public var workerHealth: WorkerHealth?
    /// Receives reports for the service manager; nil: no manager has asked for them.
    public var notifySocket: NotifySocket?
    /// Receives the counters and histograms of the worker; nil: nothing is counted.
    public var workerMetrics: WorkerMetrics?
    /// Writes an event to the log. The loop's thread calls it.
    public var log: @Sendable (EngineEvent) -> Void

    /// The budget of a worker that starts without `--memory`: 256 MiB.
    public static let standardMemory = 256 << 20
    /// The smallest budget: 64 MiB. A body of 16 MiB and an answer of 10 MiB fit, the defaults of `max_request_body`
    /// and `max_response`.
    public static let leastMemory = 64 << 20

    /// The memory that a worker needs in addition to the budget, for its program, connections and tables: 64 MiB.
    public static let memoryOverhead = 64 << 20

    /// A configuration. The caller has checked each part.
    public init(
        database: PGConnectionString, name: String, queues: [String], concurrency: Int, allowsPrivateNetwork: Bool,
        drain: Duration, usesSessions: Bool, log: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.database = database
        self.name = name
        self.queues = queues
        self.concurrency = concurrency
        self.allowsPrivateNetwork = allowsPrivateNetwork
        self.drain = drain
        self.usesSessions = usesSessions
        self.log = log
    }
}
