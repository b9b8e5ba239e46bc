// SPDX-License-Identifier: Apache-2.0

import Foundation
import PGClient
import TestSupport
import Testing

/// The examples on a page must work as shown.
struct ReadmeTests {
    @Test func `the README's configuration INSERTs work in their order`() throws {
        let path = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("README.md")
        let blocks = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "```")
        let block = try #require(
            blocks.first { $0.hasPrefix("sql\n") && $0.contains("insert into postrider.services") })
        let queue = try TestQueue()
        try queue.connection.execute(String(block.dropFirst(4)))
        #expect(try queue.number("select count(*) from postrider.jobs where service = 'billing'") == 1)
    }

    @Test func `error_codes explains the codes expired and file`() throws {
        let queue = try TestQueue()
        let meanings = try queue.rows(
            "select meaning from postrider.error_codes where code in ('expired', 'file') order by code")
        #expect(meanings.first == ["not started before expires_at"])
        #expect(meanings.last?.first??.contains("tried again where") == true)
    }
}
