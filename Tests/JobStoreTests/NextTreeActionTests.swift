// SPDX-License-Identifier: Apache-2.0

import PGClient
import TestSupport
import Testing

/// The rules of batches and chains. Each case has the row of a batch or chain, the last finding, and the next action.
struct NextTreeActionTests {
    private struct Case {
        var tree: String
        /// Members: all, released, finished, failed, succeeded.
        var counts: (Int, Int, Int, Int, Int)
        var finding: String
        var waiting: String
        var action: String

        init(
            _ tree: String, _ counts: (Int, Int, Int, Int, Int), _ finding: String, _ waiting: String, _ action: String
        ) {
            self.tree = tree
            self.counts = counts
            self.finding = finding
            self.waiting = waiting
            self.action = action
        }

        /// `tree` is `KIND MODE STATE`, then max_parallel or `expanding`.
        var sql: String {
            let words = tree.split(separator: " ").map(String.init)
            let rest = words.dropFirst(3)
            let parallel = rest.compactMap { Int($0) }.first.map { "\($0)" } ?? "null"
            return """
                jsonb_populate_record(null::postrider_internal.trees, '{"kind": "\(words[0])", "mode": "\(words[1])",
                  "state": "\(words[2])", "is_expanding": \(rest.contains("expanding")), "max_parallel": \(parallel),
                  "children": \(counts.0), "released": \(counts.1), "finished": \(counts.2), "failed": \(counts.3),
                  "succeeded": \(counts.4)}')
                """
        }
    }

    private static let cases: [Case] = [
        // A tree that is not open only begins, and only when its turn has come.
        Case("c a w", (3, 0, 0, 0, 0), "due", "expected", "begin"),
        Case("b f w", (0, 0, 0, 0, 0), "due", "unlikely", "begin"),
        Case("b a w", (3, 0, 0, 0, 0), "counted", "expected", "wait"),
        Case("b a w", (3, 3, 3, 3, 0), "counted", "unlikely", "wait"),
        Case("c a s", (3, 3, 3, 0, 3), "due", "unlikely", "wait"),
        Case("c a f", (3, 1, 1, 1, 0), "counted", "expected", "wait"),
        Case("b s c", (3, 1, 1, 0, 0), "counted", "expected", "wait"),
        Case("b a e", (3, 0, 0, 0, 0), "expired", "expected", "wait"),
        Case("b f k", (3, 0, 0, 0, 0), "counted", "expected", "wait"),
        // Findings at the beginning.
        Case("c a o", (3, 0, 0, 0, 0), "expired", "expected", "expire"),
        Case("b a o expanding", (0, 0, 0, 0, 0), "expired", "unlikely", "expire"),
        Case("b a o", (0, 0, 0, 0, 0), "broken", "unlikely", "fail"),
        Case("b s o", (0, 0, 0, 0, 0), "broken", "unlikely", "fail"),
        Case("b a o expanding", (0, 0, 0, 0, 0), "postponed", "unlikely", "continue_later"),
        Case("b a o", (500, 0, 0, 0, 0), "postponed", "expected", "continue_later"),
        // No member begins before all members exist.
        Case("b a o expanding", (250, 0, 0, 0, 0), "counted", "expected", "wait"),
        Case("b a o expanding", (250, 0, 0, 0, 0), "due", "expected", "wait"),
        // A chain releases one step at a time.
        Case("c a o", (3, 0, 0, 0, 0), "counted", "expected", "release"),
        Case("c a o", (3, 1, 0, 0, 0), "counted", "expected", "wait"),
        Case("c a o", (3, 1, 1, 0, 1), "counted", "expected", "release"),
        Case("c a o", (3, 2, 2, 0, 1), "counted", "expected", "release"),
        Case("c a o", (3, 3, 2, 0, 2), "counted", "unlikely", "wait"),
        Case("c a o", (3, 3, 3, 0, 2), "counted", "unlikely", "lock_row"),
        Case("c a o", (3, 3, 3, 0, 2), "counted", "none", "succeed"),
        Case("c a o", (2, 1, 1, 0, 1), "counted", "locked", "continue_later"),
        // The row of a step that is cancelled while it waits is counted as finished first.
        Case("c a o", (3, 1, 2, 0, 1), "counted", "expected", "release"),
        // A failure ends a chain, and a batch in mode all. It has expired if no call began.
        Case("c a o", (3, 1, 1, 1, 0), "counted", "expected", "check_expiry"),
        Case("c a o", (3, 1, 1, 1, 0), "not_expired", "expected", "fail"),
        Case("c a o", (3, 1, 1, 1, 0), "expired", "expected", "expire"),
        Case("c a o", (3, 1, 1, 1, 0), "postponed", "expected", "continue_later"),
        Case("b a o 2", (9, 4, 3, 1, 2), "counted", "expected", "check_expiry"),
        Case("b a o 2", (9, 4, 3, 1, 2), "not_expired", "expected", "fail"),
        Case("b a o", (9, 9, 3, 1, 2), "not_expired", "unlikely", "fail"),
        Case("b s o 2", (9, 4, 3, 1, 2), "counted", "expected", "release"),
        Case("b f o 2", (9, 4, 3, 3, 0), "counted", "expected", "release"),
        // The first success ends a batch in mode first.
        Case("b f o 2", (9, 4, 3, 2, 1), "counted", "expected", "succeed"),
        Case("b f o", (9, 9, 1, 0, 1), "counted", "unlikely", "succeed"),
        Case("b s o", (9, 9, 1, 0, 1), "counted", "unlikely", "wait"),
        Case("b a o", (9, 9, 1, 0, 1), "counted", "unlikely", "wait"),
        // A batch has max_parallel members under way.
        Case("b a o", (9, 0, 0, 0, 0), "counted", "expected", "release"),
        Case("b a o 3", (9, 2, 0, 0, 0), "counted", "expected", "release"),
        Case("b a o 3", (9, 3, 0, 0, 0), "counted", "expected", "wait"),
        Case("b a o 3", (9, 4, 1, 0, 1), "counted", "expected", "wait"),
        Case("b a o 3", (9, 4, 2, 0, 2), "counted", "expected", "release"),
        Case("b a o 3", (9, 2, 1, 0, 1), "counted", "locked", "wait"),
        Case("b a o 3", (9, 2, 2, 0, 2), "counted", "locked", "continue_later"),
        Case("b a o 3", (9, 2, 1, 0, 1), "counted", "unlikely", "wait"),
        // One of the two deltas of a member is missing.
        Case("b a o", (3, 2, 2, 0, 2), "counted", "unlikely", "continue_later"),
        Case("b a o", (3, 2, 3, 0, 3), "counted", "unlikely", "lock_row"),
        // No member is left. Members may join until the row is locked.
        Case("b a o", (0, 0, 0, 0, 0), "counted", "unlikely", "lock_row"),
        Case("b a o", (0, 0, 0, 0, 0), "counted", "none", "succeed"),
        Case("b a o", (3, 3, 3, 0, 3), "counted", "unlikely", "lock_row"),
        Case("b a o", (3, 3, 3, 0, 3), "postponed", "unlikely", "continue_later"),
        Case("b a o", (3, 3, 3, 0, 3), "counted", "none", "succeed"),
        Case("b a o", (3, 3, 3, 0, 3), "counted", "expected", "release"),
        Case("b s o", (3, 3, 3, 3, 0), "counted", "unlikely", "lock_row"),
        Case("b s o", (3, 3, 3, 3, 0), "counted", "none", "check_expiry"),
        Case("b s o", (3, 3, 3, 3, 0), "not_expired", "none", "succeed"),
        Case("b s o", (3, 3, 3, 3, 0), "expired", "none", "expire"),
        Case("b f o", (3, 3, 3, 3, 0), "counted", "none", "check_expiry"),
        Case("b f o", (3, 3, 3, 3, 0), "not_expired", "none", "fail_without_success"),
        Case("b f o", (3, 3, 3, 3, 0), "expired", "none", "expire"),
        // Skipped members count neither as failed nor as succeeded.
        Case("b f o", (3, 3, 3, 0, 0), "counted", "none", "fail_without_success"),
        Case("c a o", (3, 3, 3, 0, 0), "counted", "none", "succeed"),
    ]

    @Test func `next_tree_action follows the table of cases`() throws {
        let queue = try TestQueue()
        for item in Self.cases {
            let action = try queue.text(
                """
                select postrider_internal.next_tree_action(\(item.sql), '\(item.finding)', '\(item.waiting)')::text
                """)
            #expect(action == item.action, "\(item.tree) \(item.counts) \(item.finding) \(item.waiting)")
        }
    }

    @Test func `the cases reach each action and use each finding and each state of waiting members`() throws {
        let queue = try TestQueue()
        for (type, used) in [
            ("tree_action", Self.cases.map(\.action)), ("tree_finding", Self.cases.map(\.finding)),
            ("waiting_members", Self.cases.map(\.waiting)),
        ] {
            let all = try queue.rows("select unnest(enum_range(null::postrider_internal.\(type)))::text")
            #expect(Set(all.compactMap(\.[0])) == Set(used), "\(type)")
        }
    }

    @Test(arguments: [
        ("c a o", (9, 0, 0, 0, 0), 1), ("c a o", (9, 1, 0, 0, 0), 0), ("c a o", (9, 1, 1, 0, 1), 1),
        ("b a o", (90_000, 0, 0, 0, 0), 10_000), ("b a o 3", (9, 0, 0, 0, 0), 3), ("b a o 3", (9, 5, 3, 0, 3), 1),
        ("b a o 3", (9, 3, 0, 0, 0), 0), ("b a o 20000", (90_000, 0, 0, 0, 0), 10_000),
    ])
    func `tree_room is the number of members that may be released`(
        tree: String, counts: (Int, Int, Int, Int, Int), room: Int
    ) throws {
        let queue = try TestQueue()
        let row = Case(tree, counts, "counted", "expected", "wait").sql
        #expect(try queue.number("select postrider_internal.tree_room(\(row))") == Int64(room))
    }

    /// A tree with members under way ends only if a member or its own list decides the end.
    @Test func `for all small counts there is an action, and it fits the members under way`() throws {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            create temp table found as
              select t, f, w, postrider_internal.next_tree_action(t, f, w) as action
                from unnest('{b,c}'::text[]) kind, unnest('{a,s,f}'::text[]) mode, unnest('{w,o,s}'::text[]) state,
                     unnest('{1,2,null}'::int[]) parallel, generate_series(0, 3) children, generate_series(0, 3) released,
                     generate_series(0, released) finished, generate_series(0, finished) failed,
                     generate_series(0, finished - failed) succeeded,
                     unnest(enum_range(null::postrider_internal.tree_finding)) f,
                     unnest(enum_range(null::postrider_internal.waiting_members)) w,
                     jsonb_populate_record(null::postrider_internal.trees, jsonb_build_object(
                       'kind', kind, 'mode', mode, 'state', state, 'max_parallel', parallel, 'is_expanding', false,
                       'children', children, 'released', released, 'finished', finished, 'failed', failed,
                       'succeeded', succeeded)) t
            """)
        #expect(try queue.number("select count(*) from found where action is null") == 0)
        #expect(
            try queue.number(
                "select count(*) from found where action = 'release' and postrider_internal.tree_room(t) < 1") == 0)
        #expect(
            try queue.number(
                """
                select count(*) from found
                 where action in ('succeed', 'fail', 'fail_without_success', 'lock_row') and (t).released > (t).finished
                   and (t).failed = 0 and (t).succeeded = 0 and f <> 'broken'
                """) == 0)
    }
}
