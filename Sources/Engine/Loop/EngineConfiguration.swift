// SPDX-License-Identifier: Apache-2.0

public import JobStore
public import PGClient
public import SecretSealing
public import WebhookSigning

/// All that a worker process is told before it starts.
public struct EngineConfiguration: Sendable {
    /// Where the queue is.
    public var database: PGConnectionString
    /// For people: host and process.
    public var name: String
    /// Queues to take jobs of; empty: every queue.
    public var queues: [String]
    /// Calls in flight, at least 1.
    public var concurrency: Int
    /// Whether private, loopback and link-local addresses may be called.
    public var allowsPrivateNetwork: Bool
    /// Bytes that request bodies, answers in flight and results that wait to be written may take together.
    public var memoryBudget = EngineConfiguration.standardMemory
    /// How long a stop waits for running calls.
    public var drain: Duration
    /// Off behind PgBouncer in transaction mode: statements are not prepared, and new jobs are found by polling.
    public var usesSessions: Bool
    /// Version of the application that inserts the jobs, part of the cache metadata; nil: none.
    public var appVersion: String?
    /// The directory that files of jobs stay below; nil: jobs with files are refused.
    public var filesRoot: String?
    /// What webhooks are signed with; nil: they are refused.
    public var webhookKeys: WebhookKeys?
    /// What secrets are sealed with; nil: only those that are not sealed can be used.
    public var secretKeys: SecretKeys?
    /// Whether the worker ends when nothing is left to do.
    public var runsOnce = false
    /// Whose servers are used, of services that have several.
    public var environment = "release"
    /// What tells whether the schema is still this worker's; nil: it is not looked at again.
    public var schema: SchemaCheck?
    /// What is told how the worker is; nil: nobody asks.
    public var workerHealth: WorkerHealth?
    /// Hears of everything worth a line in the log; called on the loop's thread.
    public var log: @Sendable (EngineEvent) -> Void

    /// The budget of a worker that is started without one: 256 MiB.
    public static let standardMemory = 256 << 20
    /// The least budget. A body of 16 MiB and an answer of 10 MiB, the defaults of `max_request_body` and
    /// `max_response`, fit.
    public static let leastMemory = 64 << 20

    /// Memory that a worker needs in addition to the budget: for its program, connections and tables.
    public static let memoryBeside = 64 << 20

    /// A configuration; every part is checked by the caller.
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
