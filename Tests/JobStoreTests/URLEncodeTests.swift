// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

struct URLEncodeTests {
    @Test func `url_encode encodes a value for any part of a URL, also for clients`() throws {
        let queue = try TestQueue()
        let sql = "select postrider.url_encode('a/b ü?&=%+~._-9')"
        #expect(try queue.text(sql) == "a%2Fb%20%C3%BC%3F%26%3D%25%2B~._-9")
        #expect(try queue.text("select postrider.url_encode('')") == "")
        #expect(try queue.text("select postrider.url_encode(null)") == nil)
        try queue.connection.execute("set role postrider_client")
        #expect(try queue.text(sql) == "a%2Fb%20%C3%BC%3F%26%3D%25%2B~._-9")
    }
}
