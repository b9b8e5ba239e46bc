// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// A database with limits for clients, and the leader's statements without a worker.
public struct LimitFixture: ~Copyable {
    /// Its database.
    public let queue: TestQueue
    /// The client that most tests limit.
    public let client: PGConnection
    private let worker: Int64
    private let epoch: Int64

    /// A new database; `limits` are columns and values of a row of `client_limits`, like `"max_lanes", "2"`.
    public init(role: String = TestRole.client.name, _ columns: String, _ values: String) throws {
        let queue = try TestQueue()
        let client = try TestRole.client.connect(queue)
        let worker = try queue.number(
            "select worker from postrider_internal.enlist(0, 'fixture', '0.1.0', null, 64, '{}', '{}')")
        let epoch = try queue.lead(worker)
        try queue.connection.execute(
            "insert into postrider.client_limits (role, \(columns)) values ('\(role)', \(values))")
        self.worker = worker
        self.epoch = epoch
        self.client = client
        self.queue = queue
    }

    /// Another row of limits.
    public func limit(_ role: String, _ columns: String, _ values: String) throws {
        try queue.connection.execute(
            "insert into postrider.client_limits (role, \(columns)) values ('\(role)', \(values))")
    }

    /// Counts like the leader does once a second. Throws an error of the count, which the leader only keeps.
    public func count() throws {
        try queue.connection.execute("select postrider_internal.fold(\(worker), \(epoch), 0, 100000)")
        if let error = try queue.text("select error from postrider_internal.client_counting") {
            throw TestClock.Timeout(description: "the count failed: \(error)")
        }
    }

    /// Counts until a recount has come to its end.
    public func recount() throws {
        try queue.connection.execute("update postrider_internal.client_counting set recounted_at = null")
        try TestClock.wait(60, for: "the end of the recount") {
            try count()
            return try queue.number(
                "select count(*) from postrider_internal.client_counting where recounted_at is not null and recounted_from is null"
            ) == 1
        }
    }

    /// Requests and lanes of a client as `client_status` shows them, like `3 2`; without max_lanes `3 -`.
    public func usage(_ role: String = TestRole.client.name) throws -> String? {
        try queue.text(
            "select unfinished || ' ' || coalesce(lanes::text, '-') from postrider.client_status where role = '\(role)'"
        )
    }

    /// The same, found by looking at every job.
    public func truth(_ role: String = TestRole.client.name) throws -> String? {
        try queue.text(
            """
            select count(*) || ' ' || count(distinct postrider_internal.job_lane(coalesce(j.lane, j.service), j.url))
              from postrider.jobs j
             where j.created_by = '\(role)' and j.kind = 'request'
               and not exists (select from postrider_internal.results r where r.job_id = j.id)
               and not exists (select from postrider_internal.outcomes o where o.job_id = j.id)
            """)
    }
}

extension TestRole {
    /// With what a statement is refused: SQLSTATE, message and hint, a line each; nil if it is not.
    public static func words(of sql: String, _ connection: borrowing PGConnection) -> String? {
        do throws(PGError) {
            try connection.execute(sql)
            return nil
        } catch {
            return [error.sqlState?.rawValue, error.column, error.message, error.hint].map { $0 ?? "" }
                .joined(separator: "\n")
        }
    }
}
