// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

struct BenchCommandTests {
    @Test func `bench runs its jobs against an nginx of its own and prints the result`() throws {
        let database = try TestCluster.makeDatabaseText()
        #expect(try WorkerProcess.run(["migrate", "--database", database]).status == 0)
        let outcome = try WorkerProcess.run(["bench", "--jobs", "300", "--database", database])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("\njobs succeeded             300\n"))
        #expect(outcome.output.contains("\njobs that ended otherwise  0\n"))
    }

    @Test func `bench with a login that cannot run jobs ends with 64 and leaves no jobs`() throws {
        let queue = try TestQueue()
        let words = ["bench", "--jobs", "300", "--database", TestRole.client.database(queue.database)]
        let outcome = try WorkerProcess.run(words)
        #expect(outcome.status == 64)
        #expect(outcome.output.contains("test_client may not run jobs"), "\(outcome)")
        #expect(try queue.number("select count(*) from postrider.jobs") == 0)
    }
}
