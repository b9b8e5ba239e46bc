// SPDX-License-Identifier: Apache-2.0

import Glibc
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
        #expect(connects(to: port))
        server.stop()
        #expect(!connects(to: port))
    }

    private func connects(to port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
