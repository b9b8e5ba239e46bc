// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Members of a list that were checked with their batch are exempt from some checks of INSERT. A user must not get this
/// exemption.
struct ExemptInsertTests {
    static let batch = #"{"batch": {"each": [1, 2], "do": {"url": "http://h/{{item}}"}}}"#

    @Test(arguments: [TestRole.client, .admin, .reader, .nobody])
    func `clients, admins and readers cannot mark an INSERT as exempt from checks`(_ role: TestRole) throws {
        let queue = try TestQueue(sharedBy: "exempt rights")
        let user = try role.connect(queue)
        for statement in [
            "insert into postrider_internal.exempt_inserts values (1)",
            "update postrider_internal.exempt_inserts set batch_id = 1",
            "delete from postrider_internal.exempt_inserts",
            "select postrider_internal.expand(1, '[1]')",
        ] {
            #expect(TestRole.refusal(of: statement, user) == "42501", "\(statement)")
        }
    }

    /// Begins a transaction in which a batch of the client has just been expanded, and returns the batch.
    private func expand(_ client: borrowing PGConnection) throws -> Int64 {
        try client.execute("begin")
        let batch = try client.query("select postrider.submit('\(Self.batch)')").int64(0, 0)
        try client.execute("set constraints all immediate")
        #expect(
            try client.query("select count(*) from postrider.job_status where parent_id = \(batch)").int64(0, 0) == 2)
        return batch
    }

    @Test(arguments: [
        ("service", "url, service", "'/a', 'gone'"), ("credential", "url, credential", "'http://h/', 'gone'"),
        ("on_failure", "url, on_failure", "'http://h/', 'gone'"),
        ("body", "url, method, body", "'http://h/', 'POST', repeat('x', 70000)::bytea"),
    ])
    func `a member inserted in the transaction that expanded its batch is checked in full`(
        column: String, columns: String, values: String
    ) throws {
        let queue = try TestQueue()
        try queue.connection.execute("update postrider.settings set max_request_body = 65536")
        let client = try TestRole.client.connect(queue)
        let batch = try expand(client)
        let join = "insert into postrider.jobs (parent_id, \(columns)) values (\(batch), \(values))"
        let error = #expect(throws: PGError.self) { try client.execute(join) }
        #expect(error?.sqlState?.rawValue == "PR001")
        #expect(error?.message.hasPrefix("jobs.\(column): ") == true)
    }

    /// insert_spec_jobs turns postrider.inherits off, because the nodes of a spec have inherited already.
    @Test func `with postrider.inherits off, an inserted member inherits no values from its batch`() throws {
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.services (name, base_url) values ('s', 'http://h/')")
        let client = try TestRole.client.connect(queue)
        let batch = try client.query(
            #"select postrider.submit('{"service": "s", "queue": "q", "batch": [{"url": "/a"}]}')"#
        ).int64(0, 0)
        try client.execute("set postrider.inherits = 'off'")
        #expect(
            TestRole.refusal(of: "insert into postrider.jobs (parent_id, url) values (\(batch), '/b')", client)
                == "PR001")
        try client.execute("insert into postrider.jobs (parent_id, url) values (\(batch), 'http://h/b')")
        #expect(
            try queue.rows("select queue, service from postrider.jobs where parent_id = \(batch) order by id")
                == [["q", "s"], ["default", nil]])
    }
}
