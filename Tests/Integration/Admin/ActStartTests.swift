// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The start of a worker with `--http-actions`.
struct ActStartTests {
    private func start(_ words: [String], _ queue: borrowing TestQueue, _ variables: [String: String] = [:]) throws
        -> WorkerProcess.Outcome
    {
        try WorkerProcess.run(
            ["run", "--once", "--database", TestRole.worker.database(queue.database)] + words, variables)
    }

    @Test func `acts need a token also on the loopback, and an address`() throws {
        let queue = try TestQueue()
        let port = try TargetServer.freePort()
        let bare = try start(["--http", "127.0.0.1:\(port)", "--http-actions"], queue)
        #expect(bare.status == 64)
        #expect(bare.output.contains("--http-actions: acts need a token, also on the loopback"), "\(bare)")
        let variable = try start(["--http", "127.0.0.1:\(port)"], queue, ["POSTRIDER_HTTP_ACTIONS": "on"])
        #expect(variable.status == 64)
        #expect(variable.output.contains("POSTRIDER_HTTP_ACTIONS: acts need a token"), "\(variable)")
        let hidden = try start(["--http-actions"], queue, ["POSTRIDER_HTTP_TOKEN": ActingWorker.token])
        #expect(hidden.status == 64)
        #expect(hidden.output.contains("no dashboard is served"), "\(hidden)")
    }

    @Test func `a login that is not in postrider_admin ends the start with the grant`() throws {
        let queue = try TestQueue()
        let port = try TargetServer.freePort()
        let words = ["--http", "127.0.0.1:\(port)", "--http-actions"]
        let token = ["POSTRIDER_HTTP_TOKEN": ActingWorker.token]
        let refused = try start(words, queue, token)
        #expect(refused.status == 64)
        #expect(refused.output.contains("grant postrider_admin to \(TestRole.worker.name)"), "\(refused)")
        let reader = TestRole.reader.database(queue.database)
        let other = try start(words + ["--admin-database", reader], queue, token)
        #expect(other.status == 64)
        #expect(other.output.contains("grant postrider_admin to \(TestRole.reader.name)"), "\(other)")
        var variables = token
        variables["POSTRIDER_ADMIN_DATABASE"] = TestRole.admin.database(queue.database)
        #expect(try start(words, queue, variables).status == 0)
        let bad = try start(words + ["--admin-database", "host=/nowhere"], queue, token)
        #expect(bad.status == 69)
        let unreadable = try start(words + ["--admin-database", "nonsense"], queue, token)
        #expect(unreadable.status == 64)
        #expect(unreadable.output.contains("--admin-database"), "\(unreadable)")
    }

    @Test func `an act whose login has lost its membership is refused`() throws {
        let queue = try TestQueue()
        // A login of its own, because roles belong to the whole test server.
        let login = "test_acts_\(queue.database.hashValue.magnitude)"
        try queue.connection.execute("create role \(login) login in role postrider_admin")
        defer { try? queue.connection.execute("drop role \(login)") }
        let acting = try ActingWorker(queue.database, ["--queue", "none"], login: login)
        #expect(try acting.act("do=pause-queue&queue=a").status == 303)
        try queue.connection.execute("revoke postrider_admin from \(login)")
        let refused = try acting.act("do=pause-queue&queue=b")
        #expect(refused.status == 403, "\(refused.body)")
        #expect(try queue.rows("select name from postrider.queues") == [["a"]])
        acting.watched.kill()
    }
}
