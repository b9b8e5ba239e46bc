// SPDX-License-Identifier: Apache-2.0

import Glibc
import PGClient
import TestSupport
import Testing

/// The rule for failing lanes and their retries, called with given calls and times.
struct RetryBudgetRuleTests {
    /// One fold: successful calls, failed calls that may be retried, calls without a signal, and the seconds before it.
    private struct Fold {
        var good = 0
        var bad = 0
        var other = 0
        var after = 1.0
    }

    /// PostgreSQL raises an error for a product that is too small to differ from 0.
    @Test(arguments: ["true", "false"]) func `fold_retries rounds tiny old counts to 0 without an error`(
        isFailing: String
    )
        throws
    {
        let queue = try TestQueue()
        try queue.connection.execute(
            """
            insert into postrider_internal.failing_lanes (lane, at, calls, good, bad, failing)
            values ('l', now() - interval '59 s', 4e-320, 4e-320, 4e-320, \(isFailing));
            select postrider_internal.fold_retries('{l}', '{9}', '{0}', '{9}', now(), false)
            """)
        #expect(try queue.text("select good::text from postrider_internal.failing_lanes") == "0")
    }

    /// The lane's row after each fold: `-` no row, `s` a row, `F` a failing lane.
    private func run(_ queue: borrowing TestQueue, _ folds: [Fold]) throws -> String {
        try queue.connection.execute("truncate postrider_internal.failing_lanes")
        var time = 0.0
        var said = ""
        for fold in folds {
            time += fold.after
            let calls = fold.good + fold.bad + fold.other
            // The same condition as in fold: a lane without a row is skipped while most of its calls succeed.
            if fold.bad > max(fold.good, 4) || said.last.map({ $0 != "-" }) == true {
                try queue.connection.execute(
                    """
                    select postrider_internal.fold_retries('{l}', '{\(calls)}', '{\(fold.good)}', '{\(fold.bad)}',
                      timestamptz '2026-01-01' + \(time) * interval '1 s', false)
                    """)
            }
            let state = "select case when failing then 'F' else 's' end from postrider_internal.failing_lanes"
            said += try queue.text(state) ?? "-"
        }
        return said
    }

    @Test(arguments: [
        (200, 0, 0, "ssFFF"), (200, 199, 0, "ssFFF"), (20, 0, 0, "ssssssssFFF"), (1000, 0, 9000, "ssFFF"),
        // As many successes as failures, too few calls per second, and calls without a signal.
        (200, 200, 0, "-----"), (9, 0, 0, "ssssssssssssssssssssssssssssss"), (4, 0, 100, "---"), (0, 0, 500, "-----"),
    ])
    func `a lane fails when most of at least 100 calls failed for two seconds`(
        bad: Int, good: Int, other: Int, states: String
    ) throws {
        let folds = [Fold](repeating: Fold(good: good, bad: bad, other: other), count: states.count)
        #expect(try run(TestQueue(), folds) == states)
    }

    @Test func `a burst that fails twice and then succeeds does not make the lane fail`() throws {
        let queue = try TestQueue()
        #expect(try run(queue, [Fold(bad: 40_000), Fold(good: 20_000), Fold(), Fold(), Fold()]) == "sssss")
        #expect(try run(queue, [Fold(bad: 200), Fold(bad: 200), Fold(good: 200), Fold(bad: 1)]) == "ssss")
        // A lane that fails now and then keeps no row.
        #expect(try run(queue, [Fold(bad: 5), Fold(good: 50), Fold(good: 50, bad: 5)]) == "s--")
    }

    @Test func `a failing lane recovers when most of its calls succeed, and stays failing otherwise`() throws {
        let queue = try TestQueue()
        let outage = [Fold](repeating: Fold(bad: 5_000), count: 3)
        let held = [Fold](repeating: Fold(good: 3, bad: 7), count: 20)
        #expect(try run(queue, outage + held) == "ss" + String(repeating: "F", count: 21))
        // Ten retries a second, and the server works: the lane recovers in three seconds, however many calls failed
        // before.
        let well = [Fold](repeating: Fold(good: 10), count: 3)
        #expect(try run(queue, outage + well) == "ssFF--")
        #expect(try run(queue, outage + held + well).hasSuffix("FFF--"))
        #expect(try run(queue, outage + outage + outage + well).hasSuffix("FFFF-"))
        // Slow calls: old failures do not count against the one success.
        #expect(try run(queue, outage + [Fold(bad: 1, after: 20), Fold(good: 1, after: 20)]) == "ssFF-")
    }

    @Test func `a lane without calls for a minute is forgotten`() throws {
        let queue = try TestQueue()
        let outage = [Fold](repeating: Fold(bad: 500), count: 3)
        #expect(try run(queue, outage + [Fold(bad: 500, after: 59), Fold(bad: 500, after: 61)]) == "ssFFs")
        let forget =
            "select postrider_internal.fold_retries(null, null, null, null, at + '61 s', %) from postrider_internal.failing_lanes"
        try queue.connection.execute(forget.replacing("%", with: "false"))
        #expect(try queue.number("select count(*) from postrider_internal.failing_lanes") == 1)
        try queue.connection.execute(forget.replacing("%", with: "true"))
        #expect(try queue.number("select count(*) from postrider_internal.failing_lanes") == 0)
        #expect(try run(queue, outage) == "ssF")
        try queue.connection.execute(forget.replacing("%", with: "false"))
        #expect(try queue.number("select count(*) from postrider_internal.failing_lanes") == 0)
    }

    @Test(arguments: 1...4)
    func `the decayed counts of a lane match the reference for random calls and times`(seed: UInt64) throws {
        let queue = try TestQueue()
        var randomness = Randomness(seed: seed)
        var time = 0.0
        var (calls, good, bad) = (0.0, 0.0, 0.0)
        var failing = false
        for turn in 1...60 {
            let after = Double(randomness.number(10...8_000)) / 1000
            let isOutage = turn % 30 < 15
            let fold = Fold(
                good: Int(randomness.number(0...(isOutage ? 10 : 400))),
                bad: Int(randomness.number(1...(isOutage ? 400 : 10))), other: Int(randomness.number(0...50)))
            let new = fold.good + fold.bad + fold.other
            time += after
            try queue.connection.execute(
                """
                select postrider_internal.fold_retries('{l}', '{\(new)}', '{\(fold.good)}', '{\(fold.bad)}',
                  timestamptz '2026-01-01' + \(time) * interval '1 s', false)
                """)
            let fade = exp(-after / (failing ? 2 : 10))
            calls = calls * exp(-after / 10) + Double(new)
            // While the lane is failing, each fold counts only ten calls.
            let few = min(1, 10 / Double(fold.good + fold.bad))
            good = good * fade + Double(fold.good) * (failing ? few : 1)
            bad = bad * fade + Double(fold.bad) * (failing ? few : 1)
            let row = try queue.connection.query(
                "select calls, good, bad, failing from postrider_internal.failing_lanes")
            let isFailing = row.rowCount == 1 && row.bool(0, 3)
            if isFailing, !failing {
                (calls, good, bad) = (0, Double(fold.good) * few, Double(fold.bad) * few)
            } else if row.rowCount == 0 {
                #expect(failing ? good >= 2 * bad - 1e-3 : bad <= good / 2 + 1e-3, "\(turn)")
                (calls, good, bad) = (0, 0, 0)
            }
            failing = isFailing
            guard row.rowCount == 1 else { continue }
            for (column, expected) in [calls, good, bad].enumerated() {
                #expect(abs(row.float8(0, Int(column)) - expected) <= 1e-3 * max(1, expected), "\(turn) \(column)")
            }
        }
    }

    @Test(arguments: [
        ("true, 1000, now(), 0.2, now()", 20.0), ("true, 1000, now(), 0.5, now()", 50),
        ("true, 1000, now() - interval '5 s', 0.5, now()", 50 * exp(-0.5)), ("true, 100, now(), 0.2, now()", 10),
        ("true, 0, now(), 0.001, now()", 10), ("true, 1e9, now() - interval '59 s', 0.2, now()", 2e7 * exp(-5.9)),
        // The clock was set back.
        ("true, 1000, now() + interval '1 h', 0.2, now()", 20), ("true, 1000, now(), 1, now()", nil),
        ("false, 1000, now(), 0.2, now()", nil), ("true, 1000, now() - interval '60 s', 0.2, now()", nil),
    ])
    func `retry_rate is the budget's share of the lane's calls, at least 10 a second`(
        arguments: String, rate: Double?
    ) throws {
        let result = try TestQueue().connection.query("select postrider_internal.retry_rate(\(arguments))")
        #expect(result.isNull(0, 0) == (rate == nil))
        if let rate { #expect(abs(result.float8(0, 0) - rate) < 1e-6 * rate) }
    }

    @Test(arguments: ["0", "-0.1", "1.01", "'NaN'", "null"])
    func `a retry_budget outside 0.0001 to 1 is refused`(budget: String) throws {
        let queue = try TestQueue()
        try queue.connection.execute("insert into postrider.lanes (name) values ('l'), ('m')")
        #expect(try queue.text("select retry_budget::text from postrider.lanes limit 1") == "0.2")
        try queue.connection.execute("update postrider.lanes set retry_budget = 1 where name = 'm'")
        let error = #expect(throws: PGError.self) {
            try queue.connection.execute("update postrider.lanes set retry_budget = \(budget)")
        }
        #expect(error?.sqlState?.rawValue == "PR001")
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("lanes.retry_budget: must be 0.0001 to 1"), "\(text)")
    }
}
