// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PGClient

struct PGConnectionStringTests {
    /// The options that the string passes to libpq.
    private func options(_ string: PGConnectionString) -> [String: String] {
        var found: [String: String] = [:]
        _ = unsafe string.withKeywords { keywords, values -> Bool? in
            var index = 0
            while let keyword = unsafe keywords[index], let value = unsafe values[index] {
                unsafe found[String(cString: keyword)] = unsafe String(cString: value)
                index += 1
            }
            return true
        }
        return found
    }

    @Test func `an empty connection string gets default options`() throws {
        let found = options(try PGConnectionString(""))
        #expect(found["fallback_application_name"] == "postrider")
        #expect(found["gssencmode"] == "disable")
        #expect(found["target_session_attrs"] == "read-write")
        #expect(found["connect_timeout"] == "10")
        #expect(found["keepalives_idle"] == "10")
        #expect(found["tcp_user_timeout"] == "15000")
    }

    @Test func `options in the connection string override the defaults`() throws {
        let text = "postgresql://u@a:1,b:2/db?target_session_attrs=any&tcp_user_timeout=7&connect_timeout=3"
        let string = try PGConnectionString(text)
        let found = options(string)
        #expect(found["target_session_attrs"] == "any")
        #expect(found["tcp_user_timeout"] == "7")
        #expect(found["host"] == "a,b")
        #expect(string.connectTimeoutSeconds == 3)
        #expect(string.hostCount == 2)
        #expect(string.summary == "host=a,b port=1,2 dbname=db user=u")
    }

    @Test(arguments: [
        "", "client_encoding=LATIN1", "postgresql://h/db?client_encoding=auto", "service=s", "client_encoding=UTF8",
    ])
    func `client_encoding is always UTF8, even against the connection string or PGCLIENTENCODING`(text: String) throws {
        let string = try PGConnectionString(text) { ["PGCLIENTENCODING": "LATIN1"][$0] }
        #expect(options(string)["client_encoding"] == "UTF8")
    }

    @Test(arguments: ["host=h port=0", "host=a,b port=1,65536", "postgresql://h:99999/x", "port=x"])
    func `an invalid port is refused before any connection attempt`(text: String) {
        let error = #expect(throws: PGError.self) { try PGConnectionString(text) }
        #expect(error?.code == .connectionString && error?.message.contains("port") == true)
    }

    @Test func `rotation moves hosts with their ports and keeps a common port`() throws {
        let own = options(try PGConnectionString("host=a,b,c port=1,2,3").rotated(by: 1))
        #expect(own["host"] == "b,c,a")
        #expect(own["port"] == "2,3,1")
        let common = options(try PGConnectionString("host=a,b,c port=5").rotated(by: 5))
        #expect(common["host"] == "c,a,b")
        #expect(common["port"] == "5")
    }

    @Test func `hosts and ports from the environment are rotated unless a service is used`() throws {
        let variables = ["PGHOST": "a,b", "PGPORT": "1,2"]
        let lists = options(try PGConnectionString("dbname=x") { variables[$0] }.rotated(by: 1))
        #expect(lists["host"] == "b,a")
        #expect(lists["port"] == "2,1")
        let ports = options(try PGConnectionString("host=c,d") { variables[$0] }.rotated(by: 1))
        #expect(ports["host"] == "d,c")
        #expect(ports["port"] == "2,1")
        #expect(options(try PGConnectionString("service=s") { variables[$0] })["host"] == nil)
        #expect(options(try PGConnectionString("") { ["PGSERVICE": "s"][$0] ?? variables[$0] })["host"] == nil)
    }

    @Test(arguments: [
        ("host=a,b,c", "b", "5432", 2), ("host=a,a,b port=1,2,3", "a", "2", 2), ("host=a,b port=7", "b", "7", 2),
        ("hostaddr=10.0.0.1,10.0.0.2", "10.0.0.2", "5432", 2), ("host=a,b", "z", "5432", 1), ("", "", "5432", 1),
    ])
    func `a host's place in the list is found by its name and port`(
        text: String, host: String, port: String, steps: Int
    )
        throws
    {
        #expect(try PGConnectionString(text) { _ in nil }.steps(behind: (host, port)) == steps)
    }

    @Test(
        arguments: [
            "postgresql://user:s3cret@[::1/db", "postgresql://user:s3cret%zz@host/db", "password=s3cret nonsense",
            "password = 's3cret", "s3cret", "pass=s3cret",
        ])
    func `an unreadable connection string is refused, and the error hides its password`(text: String) {
        var seen: PGError?
        do throws(PGError) { _ = try PGConnectionString(text) } catch { seen = error }
        #expect(seen?.code == .connectionString)
        #expect(seen?.isConfiguration == true)
        #expect(seen?.description.contains("s3cret") == false)
    }

    @Test(
        arguments: [
            "postgresql://user:pw/s3cret@127.0.0.1/db", "postgresql://user:s3cret:x@127.0.0.1:1/db",
            "postgresql://user:x@s3cret@127.0.0.1/db", "postgresql://user:s3cret@127.0.0.1:1/db",
            "host=127.0.0.1 port=1 password=s3cret",
        ])
    func `a connection error hides the password, even if the string was split wrongly`(text: String) {
        var seen: PGError?
        do throws(PGError) { _ = try PGConnection(text) } catch { seen = error }
        #expect(seen != nil)
        #expect(seen?.description.contains("s3cret") == false, "\(seen?.description ?? "")")
    }
}
