// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// Functions that name a set of states.
///
/// Indexes repeat the letters as text, because their conditions cannot call functions.
struct StateSetTests {
    @Test(arguments: [("trees_open", "is_open_tree"), ("results_failures", "is_failure")])
    func `an index has the states that the function names`(index: String, function: String) throws {
        let queue = try TestQueue()
        let condition = try #require(
            try queue.text(
                "select pg_get_expr(indpred, indrelid) from pg_index where indexrelid = 'postrider_internal.\(index)'::regclass"
            ))
        let letters = "(select chr(n)::\"char\" as state from generate_series(97, 122) n) x"
        let differing = try queue.rows(
            "select state::text from \(letters) where (\(condition)) <> postrider_internal.\(function)(state)")
        #expect(differing == [])
        #expect(try queue.number("select count(*) from \(letters) where \(condition)") > 1)
    }

    @Test func `PostgreSQL puts the letters in the place of the function, so it finds the index`() throws {
        let queue = try TestQueue()
        try queue.connection.execute("set enable_seqscan = off")
        let plan = try queue.rows(
            "explain select job_id from postrider_internal.trees t where postrider_internal.is_open_tree(t.state)")
        #expect(plan.contains { $0[0]?.contains("trees_open") == true }, "\(plan)")
    }
}
