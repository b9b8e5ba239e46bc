// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

@testable import Admin

struct ReadOnlyDatabaseTests {
    @Test func `a connection whose server is silent is replaced`() throws {
        let database = ReadOnlyDatabase(try TestCluster.makeDatabase())
        let first = try #require(try database.read { $0.processID })
        #expect(try database.read { $0.processID } == first)
        kill(first, SIGSTOP)
        defer { kill(first, SIGCONT) }
        let second = try #require(try database.read { $0.processID })
        #expect(second != first)
        #expect(try database.read { (open) throws(PGError) in try open.query("select 7").int32(0, 0) } == 7)
    }

    @Test func `a failing statement raises an error, and the next read succeeds`() throws {
        let database = ReadOnlyDatabase(try TestCluster.makeDatabase())
        #expect(throws: PGError.self) {
            _ = try database.read { (open) throws(PGError) in try open.query("select 1 / 0").int32(0, 0) }
        }
        #expect(try database.read { (open) throws(PGError) in try open.query("select 7").int32(0, 0) } == 7)
    }
}
