// SPDX-License-Identifier: Apache-2.0

import Foundation
import JobModel
import PGClient
import TestSupport
import Testing

/// The table of one-letter codes in `migrations/README.md`.
struct LetterListTests {
    /// Each column of the table, as `table.column`, with its letters. A column that refers to another column gets its
    /// letters.
    private static func list() throws -> [String: Set<Character>] {
        let text = try String(contentsOfFile: ProjectFolder.path() + "/migrations/README.md", encoding: .utf8)
        let section = text.components(separatedBy: "## Letters").dropFirst().first ?? ""
        var letters: [String: Set<Character>] = [:]
        for line in section.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map(String.init)
            let columns = cells[0].matches(of: /`([a-z_]+\.[a-z_]+)`/).map { String($0.output.1) }
            var found = Set(cells[1].matches(of: /`([a-z])`/).compactMap { $0.output.1.first })
            for other in cells[1].matches(of: /letters of `([a-z_]+\.[a-z_]+)`|those of `([a-z_]+\.[a-z_]+)`/) {
                found.formUnion(letters[String(other.output.1 ?? other.output.2 ?? "")] ?? [])
            }
            for column in columns { letters[column] = found }
        }
        return letters
    }

    @Test func `the letters table lists each column of the type char`() throws {
        let queue = try TestQueue()
        let columns = try queue.rows(
            """
            select c.relname || '.' || a.attname
              from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
             where c.relnamespace = any (postrider_internal.own_schemas())
               and c.relkind in ('r', 'p', 'c') and not c.relispartition
               and a.atttypid in ('"char"'::regtype, '"char"[]'::regtype)
            """
        ).compactMap(\.[0])
        let listed = try Self.list()
        #expect(Set(columns).subtracting(listed.keys) == [])
        #expect(listed.values.allSatisfy { !$0.isEmpty })
    }

    @Test func `the verdict and health letters in Swift match the letters table`() throws {
        let listed = try Self.list()
        let verdicts = Set(Verdict.Kind.allCases.map { Character($0.letter) })
        // Only the database gives the letter n.
        #expect(listed["finished_attempt.verdict"] == verdicts.union(["n"]))
        #expect(
            listed["finished_attempt.health"]
                == Set([ServerHealth.well, .failed, .unclear].map { Character($0.letter) }))
        #expect(listed["read_refresh_answer.verdict"] == ["s", "r", "d", "f", "h"])
    }

    /// Indexes repeat letters as text, because their conditions cannot call functions.
    @Test(arguments: [
        ("trees_open", "trees.state", "is_open_tree"), ("results_failures", "results.state", "is_failure"),
    ])
    func `an index condition has the letters of its function, all listed for its column`(
        index: String, column: String, function: String
    ) throws {
        let queue = try TestQueue()
        let condition = try #require(
            try queue.text(
                "select pg_get_expr(indpred, indrelid) from pg_index where indexrelid = 'postrider_internal.\(index)'::regclass"
            ))
        let letters = "(select chr(n)::\"char\" as state from generate_series(97, 122) n) x"
        let differing = try queue.rows(
            "select state::text from \(letters) where (\(condition)) <> postrider_internal.\(function)(state)")
        #expect(differing == [])
        let named = try queue.rows("select state::text from \(letters) where \(condition)").compactMap { $0[0]?.first }
        #expect(named.count > 1)
        #expect(Set(named).subtracting(try Self.list()[column] ?? []) == [])
    }

    @Test func `PostgreSQL inlines is_open_tree, so the query uses the index trees_open`() throws {
        let queue = try TestQueue()
        try queue.connection.execute("set enable_seqscan = off")
        let plan = try queue.rows(
            "explain select job_id from postrider_internal.trees t where postrider_internal.is_open_tree(t.state)")
        #expect(plan.contains { $0[0]?.contains("trees_open") == true }, "\(plan)")
    }
}
