// SPDX-License-Identifier: Apache-2.0

import PGClient
import PrivateCluster
import TestSupport
import Testing

/// The report of `worker doctor` behind a connection pooler.
struct DoctorPoolerTests {
    @Test(arguments: [1, 20])
    func `doctor reports PgBouncer in transaction mode as a fault without --prepare off`(connections: Int) throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let queue = try TestQueue(on: cluster)
        let bouncer = try Bouncer(before: cluster, connections: connections)
        let report = try DoctorReport(bouncer.connectionString)
        #expect(report.status == 1)
        #expect(report["pooler"].hasPrefix("fault pooler each transaction may run in another session"), "\(report)")
        #expect(report["pooler"].hasSuffix("give --prepare off or set POSTRIDER_PREPARE=off"))
        let off = try DoctorReport(bouncer.connectionString, ["--prepare", "off"])
        #expect(off.status == 0)
        #expect(off["pooler"].hasPrefix("ok pooler "), "\(off)")
        // A direct connection to the server, while other sessions are open.
        let others = try PGConnection(queue.database)
        defer { withExtendedLifetime(others) {} }
        let plain = try DoctorReport(queue.database)
        #expect(plain.status == 0)
        #expect(plain["pooler"] == "")
    }

    @Test func `doctor accepts PgBouncer in session mode with five sessions`() throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let queue = try TestQueue(on: cluster)
        defer { withExtendedLifetime(queue) {} }
        let bouncer = try Bouncer(before: cluster, connections: 5, mode: "session")
        let report = try DoctorReport(bouncer.connectionString)
        #expect(report.status == 0)
        #expect(report["pooler"] == "", "\(report)")
    }

    @Test func `doctor reports a session pool of one session within a minute`() throws {
        let cluster = try PrivateCluster()
        defer { cluster.remove() }
        let queue = try TestQueue(on: cluster)
        defer { withExtendedLifetime(queue) {} }
        let bouncer = try Bouncer(before: cluster, mode: "session")
        let begun = TestClock.now
        let report = try DoctorReport(bouncer.connectionString)
        #expect(TestClock.seconds(since: begun) < 60)
        #expect(report["pooler"].hasPrefix("notice pooler gave no second session: "), "\(report)")
        #expect(report["schema"].hasPrefix("ok "))
    }
}
