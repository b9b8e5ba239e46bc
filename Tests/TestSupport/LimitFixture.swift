// SPDX-License-Identifier: Apache-2.0

public import PGClient

/// A database with limits for clients. It runs the leader's statements without a worker.
public struct LimitFixture: ~Copyable {
    /// The fixture's database.
    public let queue: TestQueue
    /// The session of the client that most tests limit.
    public let client: PGConnection
    private let worker: Int64
    private let epoch: Int64

    /// Makes a database with one row of `client_limits`. Columns and values are lists, as in `"max_lanes", "2"`.
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

    /// Adds another row of limits.
    public func limit(_ role: String, _ columns: String, _ values: String) throws {
        try queue.connection.execute(
            "insert into postrider.client_limits (role, \(columns)) values ('\(role)', \(values))")
    }

    /// Counts as the leader does once a second. Throws a stored error of the count; the leader would only keep it.
    public func count() throws {
        try queue.connection.execute("select postrider_internal.fold(\(worker), \(epoch), 0, 100000)")
        if let error = try queue.text("select error from postrider_internal.client_counting") {
            throw TestFault(description: "the count failed: \(error)")
        }
    }

    /// Forces a recount and counts until it is complete.
    public func recount() throws {
        try queue.connection.execute("update postrider_internal.client_counting set recounted_at = null")
        try TestClock.wait(60, for: "the end of the recount") {
            try count()
            return try queue.number(
                "select count(*) from postrider_internal.client_counting where recounted_at is not null and recounted_from is null"
            ) == 1
        }
    }

    /// The requests and lanes of a client in `client_status`, as in `3 2`; without `max_lanes`, as in `3 -`.
    public func usage(_ role: String = TestRole.client.name) throws -> String? {
        try queue.text(
            "select unfinished || ' ' || coalesce(lanes::text, '-') from postrider.client_status where role = '\(role)'"
        )
    }

    /// The values of `usage`, computed from every job.
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
    /// The error of a refused statement: SQLSTATE, column, message and hint, one per line; nil if it succeeds.
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
