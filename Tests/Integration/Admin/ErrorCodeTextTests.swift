// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The texts of the table of error codes.
struct ErrorCodeTextTests {
    @Test func `error_codes explains the codes expired and file`() throws {
        let queue = try TestQueue()
        let meanings = try queue.rows(
            "select meaning from postrider.error_codes where code in ('expired', 'file') order by code")
        #expect(meanings.first == ["not started before expires_at"])
        #expect(meanings.last?.first??.contains("are retried") == true)
    }
}
