// SPDX-License-Identifier: Apache-2.0

import JobStore
import PGClient
import TestSupport
import Testing

struct RetryDelayTests {
    /// `least` ignores nulls. So an answer without Retry-After could wait for its whole limit of an hour.
    @Test(arguments: [
        ("'{300 ms}', 1, null", 0.3), ("'{1 s, 5 s}', 2, null", 5), ("'{1 s, 5 s}', 9, null", 5),
        ("'{1 s}', 1, 7000", 7), ("'{1 s}', 1, 86400000", 3600), ("'{9 s}', 1, 7000", 9),
        ("'[3:4]={1 s,5 s}', 1, null", 1), ("'[3:4]={1 s,5 s}', 3, null", 5),
    ])
    func `the retry delay follows the backoff list and is at least Retry-After, up to an hour`(
        arguments: String, seconds: Double
    ) throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        _ = try Migrator().migrate(connection)
        let wait = "select extract(epoch from postrider_internal.retry_delay(\(arguments)))::float8"
        #expect(try connection.query(wait).float8(0, 0) == seconds)
    }

    @Test func `the default retry delay is random below a bound that doubles up to 15 minutes`() throws {
        let connection = try PGConnection(TestCluster.makeDatabase())
        _ = try Migrator().migrate(connection)
        for (attempt, bound) in [(1, 2.0), (3, 8.0), (30, 900.0)] {
            let longest = try connection.query(
                """
                select max(extract(epoch from postrider_internal.retry_delay(null, \(attempt), null)))::float8
                from generate_series(1, 500)
                """
            ).float8(0, 0)
            #expect(longest <= bound)
            #expect(longest > bound * 0.9)
        }
    }
}
