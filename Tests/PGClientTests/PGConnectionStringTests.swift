// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PGClient

struct PGConnectionStringTests {
    /// What libpq would be given.
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

    @Test func `what the text does not say is filled in`() throws {
        let found = options(try PGConnectionString(""))
        #expect(found["fallback_application_name"] == "postrider")
        #expect(found["gssencmode"] == "disable")
        #expect(found["target_session_attrs"] == "read-write")
        #expect(found["connect_timeout"] == "10")
        #expect(found["keepalives_idle"] == "10")
        #expect(found["tcp_user_timeout"] == "15000")
    }

    @Test func `what the text says stays`() throws {
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

    @Test func `rotating moves hosts and their ports together, and a common port not`() throws {
        let own = options(try PGConnectionString("host=a,b,c port=1,2,3").rotated(by: 1))
        #expect(own["host"] == "b,c,a")
        #expect(own["port"] == "2,3,1")
        let common = options(try PGConnectionString("host=a,b,c port=5").rotated(by: 5))
        #expect(common["host"] == "c,a,b")
        #expect(common["port"] == "5")
    }

    @Test(
        arguments: [
            "postgresql://user:s3cret@[::1/db", "postgresql://user:s3cret%zz@host/db", "password=s3cret nonsense",
            "password = 's3cret", "s3cret", "pass=s3cret",
        ])
    func `a text that cannot be read is refused without being quoted`(text: String) {
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
    func `a password is not shown, even where the text was cut at the wrong place`(text: String) {
        var seen: PGError?
        do throws(PGError) { _ = try PGConnection(text) } catch { seen = error }
        #expect(seen != nil)
        #expect(seen?.description.contains("s3cret") == false, "\(seen?.description ?? "")")
    }
}
