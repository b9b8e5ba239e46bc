// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import Synchronization
import TestSupport
import Testing

@testable import PrivateCluster

struct PrivateClusterTests {
    @Test(arguments: [PrivateCluster.StopMode.fast, .immediate])
    func `a table survives a stop and a start of the cluster`(mode: PrivateCluster.StopMode) throws {
        let cluster = try PrivateCluster()
        try PGConnection(cluster.connectionString()).execute("create table t as select 1 as id")
        cluster.stop(mode)
        #expect(cluster.processID == 0)
        try cluster.start()
        let connection = try PGConnection(cluster.connectionString())
        #expect(try connection.query("select from t").rowCount == 1)
    }

    @Test func `a killed server starts again with its data`() throws {
        let cluster = try PrivateCluster()
        let open = try PGConnection(cluster.connectionString())
        try open.execute("create table t as select 1 as id")
        cluster.kill()
        try cluster.start()
        let connection = try PGConnection(cluster.connectionString())
        #expect(try connection.query("select from t").rowCount == 1)
    }

    @Test func `a released cluster leaves no files and no process`() throws {
        var directory = ""
        var server: Int32 = 0
        do {
            let cluster = try PrivateCluster()
            directory = cluster.directory
            server = cluster.processID
            #expect(unsafe access(directory, F_OK) == 0)
        }
        #expect(unsafe access(directory, F_OK) != 0)
        #expect(kill(server, 0) != 0)
    }

    @Test func `when its pipe closes, the watchdog stops the server and deletes the files`() throws {
        var name = [CChar]("/var/tmp/postrider-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&name) != nil)
        let directory = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try #require(unsafe mkdir("\(directory)/data", 0o700) == 0)
        let server = try ChildProcess.spawn(["sleep", "600"], output: -1)
        // The process is reaped while the watchdog checks it, as init does for the orphans of a killed process.
        let status = Mutex<Int32>(0)
        let reaper = BackgroundThread { status.withLock { $0 = ChildProcess.wait(for: server) } }
        let watchdog = try Watchdog(directories: [directory])
        watchdog.watch(server)
        watchdog.finish()
        reaper.join()
        #expect(status.withLock { $0 } == 128 + SIGQUIT)
        #expect(unsafe access(directory, F_OK) != 0)
    }

    @Test func `the error of a server that cannot start names the reason`() throws {
        var seen: ClusterError?
        do throws(ClusterError) {
            _ = try PrivateCluster(.init(settings: ["shared_buffers": "nonsense"]))
        } catch { seen = error }
        #expect(seen?.code == .start)
        #expect(seen?.description.contains("shared_buffers") == true)
    }
}
