// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

@testable import Admin

/// The server itself; there is one in a process, so one test.
struct AdminServerTests {
    @Test func `a server that was stopped takes no connection any more`() throws {
        let port = try TargetServer.freePort()
        let server = AdminServer(slots: 1, database: try PGConnectionString("host=/nowhere"), token: nil)
        try server.start(at: AdminAddress(loopback: port))
        #expect(TargetServer.isTaken(port))
        server.stop()
        #expect(!TargetServer.isTaken(port))
    }
}
