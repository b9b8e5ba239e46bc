// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import PrivateCluster
import TestSupport
import Testing

/// Indirect connections to the server: through a pooler, to several hosts, to hosts that do not answer.
struct PGRouteTests {
    @Test func `two sessions without prepared statements share one server connection of PgBouncer`() throws {
        let cluster = try PrivateCluster()
        let bouncer = try Bouncer(before: cluster)
        let string = try PGConnectionString(bouncer.connectionString)
        try PGConnection(string).execute("create table t (id int8)")
        var first = try SessionLoop(string, prepares: false)
        var second = try SessionLoop(string, prepares: false)
        #expect(try first.runUntilReady())
        #expect(try second.runUntilReady())
        first.forget()
        second.forget()
        for tag in 1...50 as ClosedRange<UInt64> {
            var parameters = PGSessionTests.one(Int64(tag))
            try first.session.append(PGSessionTests.insert, &parameters, tag: 2 * tag)
            try first.session.append(PGSessionTests.echo, &parameters, tag: 2 * tag + 1)
            first.session.commit()
            try second.session.send(PGSessionTests.echo, &parameters, tag: tag)
            #expect(try first.run { $0.count == 2 * Int(tag) })
            #expect(try second.run { $0.count == Int(tag) })
        }
        let told = second.told
        #expect(told == (1...50).map { .result($0, rows: 1, value: Int64($0)) })
        let rows = try PGConnection(string).query("select count(*) from t")
        #expect(rows.int64(0, 0) == 50)
    }

    @Test func `a session uses the second host while the first host is down`() throws {
        let first = try PrivateCluster()
        let second = try PrivateCluster()
        let hosts = "host=\(first.directory),\(second.directory) user=postgres dbname=postgres"
        try PGConnection(first.connectionString()).execute("create table here (id int8)")
        let count = PGStatement("count", "select count(*) from pg_class where relname = 'here'")
        var none = PGParameters()
        var loop = try SessionLoop(try PGConnectionString(hosts))
        #expect(try loop.runUntilReady())
        loop.forget()
        try loop.session.send(count, &none, tag: 1)
        #expect(try loop.run { $0 == [.result(1, rows: 1, value: 1)] })
        first.stop(.immediate)
        #expect(try loop.run { $0.contains(.ready) })
        loop.forget()
        try loop.session.send(count, &none, tag: 2)
        #expect(try loop.run { $0 == [.result(2, rows: 1, value: 0)] })
        #expect(try PGConnection(hosts).query("select 1").rowCount == 1)
    }

    @Test func `a connection skips a read-only host unless target_session_attrs is any`() throws {
        let first = try PrivateCluster(.init(settings: ["default_transaction_read_only": "on"]))
        let second = try PrivateCluster()
        let hosts = "host=\(first.directory),\(second.directory) user=postgres dbname=postgres"
        let rows = try PGConnection(hosts).query("select current_setting('unix_socket_directories')")
        let answered = rows.text(0, 0)
        #expect(answered == second.directory)
        let any = try PGConnection("\(hosts) target_session_attrs=any")
        let anyRows = try any.query("select current_setting('unix_socket_directories')")
        let anyAnswered = anyRows.text(0, 0)
        #expect(anyAnswered == first.directory)
    }

    @Test func `a reading connection uses a read-only host as a last resort, but no standby`() throws {
        let silent = try SilentHost()
        let closed = try PrivateCluster(.init(settings: ["default_transaction_read_only": "on"]))
        let standby = try PrivateCluster()
        standby.stop()
        close(unsafe open("\(standby.directory)/data/standby.signal", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644))
        try standby.start()
        func answered(_ hosts: [String], _ words: String = "") throws -> String {
            let string = try PGConnectionString(
                "host=\(hosts.joined(separator: ",")) user=postgres dbname=postgres connect_timeout=1 \(words)")
            let connection = try PGConnection.connectForReading(string)
            return try connection.query("select current_setting('unix_socket_directories')").text(0, 0)
        }
        #expect(try answered([closed.directory]) == closed.directory)
        #expect(try answered([standby.directory, closed.directory]) == closed.directory)
        #expect(try answered([closed.directory, silent.directory, "/nowhere"]) == closed.directory)
        #expect(try answered([silent.directory, closed.directory]) == closed.directory)
        let open = try TestCluster.shared.directory
        #expect(try answered([closed.directory, open]) == open)
        #expect(try answered([standby.directory], "target_session_attrs=any") == standby.directory)
        let alone = #expect(throws: PGError.self) { try answered([standby.directory]) }
        #expect(alone?.message.contains("hot standby") == true, "\(String(describing: alone))")
        let chosen = #expect(throws: PGError.self) {
            try answered([closed.directory], "target_session_attrs=read-write")
        }
        #expect(chosen?.foundReadOnly == true)
        #expect(
            chosen?.message.hasSuffix("is read-only, as on a standby or where default_transaction_read_only is on")
                == true)
    }

    @Test func `a session gives up a silent host after connect_timeout and tries the next host`() throws {
        let silent = try SilentHost()
        let live = try TestCluster.shared
        let hosts = "host=\(silent.directory),\(live.directory) user=postgres dbname=postgres connect_timeout=1"
        var loop = try SessionLoop(try PGConnectionString(hosts))
        #expect(try loop.run { $0.contains(.ready) })
        let told = loop.told
        #expect(told == [.lost([]), .retry, .ready])
        let code = loop.errors[0].code
        #expect(code == .timeout)
        #expect(try PGConnection(hosts).query("select 1").rowCount == 1)
    }

    @Test func `a session reconnects first to the host that answered last`() throws {
        let silent = try SilentHost()
        let live = try TestCluster.shared
        let hosts = "host=\(silent.directory),\(live.directory) user=postgres dbname=postgres connect_timeout=1"
        var loop = try SessionLoop(try PGConnectionString(hosts))
        #expect(try loop.runUntilReady())
        loop.forget()
        let pid = loop.session.processID
        _ = try PGConnection(live.connectionString()).query("select pg_terminate_backend(\(pid))")
        #expect(try loop.run { $0.contains(.ready) })
        let told = loop.told
        #expect(told == [.lost([]), .retry, .ready])
    }

    @Test func `a session skips a refusing host and a silent host in one retry`() throws {
        let silent = try SilentHost()
        let live = try TestCluster.shared
        let directories = "/nowhere,\(silent.directory),\(live.directory)"
        let hosts = "host=\(directories) user=postgres dbname=postgres connect_timeout=1"
        var loop = try SessionLoop(try PGConnectionString(hosts))
        #expect(try loop.run { $0.contains(.ready) })
        let told = loop.told
        #expect(told == [.lost([]), .retry, .ready])
    }

    @Test func `migrate reaches the second host of PGHOST if the first host is silent`() throws {
        let silent = try SilentHost()
        let live = try TestCluster.makeDatabaseText()
        let name = TestCluster.name(of: live)
        let text = "user=postgres dbname=\(name) connect_timeout=1"
        let hosts = try "\(silent.directory),\(TestCluster.shared.directory)"
        #expect(try WorkerProcess.run(["migrate", "--database", text], ["PGHOST": hosts]).status == 0)
        #expect(try WorkerProcess.run(["run", "--database", text], ["PGHOST": silent.directory]).status == 69)
    }

    @Test func `a connection to a silent host fails after connect_timeout and hides the password`() throws {
        let silent = try SilentHost()
        var seen: PGError?
        do throws(PGError) {
            _ = try PGConnection("host=\(silent.directory) connect_timeout=1 password=hush")
        } catch { seen = error }
        #expect(seen?.code == .timeout)
        #expect(seen?.description.contains("hush") == false)
    }
}

/// A Unix socket in the place of PostgreSQL's socket. It accepts connections and never answers.
final class SilentHost {
    let directory: String
    private let listener: Int32

    init() throws {
        var name = [CChar]("/tmp/postrider-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&name) != nil else { throw POSIXFailure(number: errno) }
        directory = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array("\(directory)/.s.PGSQL.5432".utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(listener, $0, size) }
        }
        guard bound == 0, listen(listener, 16) == 0 else { throw POSIXFailure(number: errno) }
    }

    deinit {
        close(listener)
        unsafe unlink("\(directory)/.s.PGSQL.5432")
        unsafe rmdir(directory)
    }
}

struct POSIXFailure: Error {
    var number: Int32
}
