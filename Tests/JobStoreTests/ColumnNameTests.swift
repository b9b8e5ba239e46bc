// SPDX-License-Identifier: Apache-2.0

import Foundation
import PGClient
import TestSupport
import Testing

@testable import JobStore

/// The columns that readers name, compared with the columns that PostgreSQL returns.
struct ColumnNameTests {
    /// Two columns in an order that differs from the SELECT list of the tests.
    private enum SwappedColumn: Int, PGColumn {
        case second, first

        var sql: StaticString {
            switch self {
            case .second: "2 as second"
            case .first: "1 as first"
            }
        }
    }

    /// Whether the result has the columns that the readers of the statement expect.
    private static func agrees(_ statement: PGStatement, _ connection: borrowing PGConnection) throws -> Bool {
        let names = try connection.columnNames(of: statement.sql)
        return statement.columns == nil || statement.columns == names
    }

    @Test func `each statement returns the columns that its readers name`() throws {
        let queue = try TestQueue()
        for statement in StoreStatement.all {
            #expect(try Self.agrees(statement, queue.connection), "\(statement.name): \(statement.columns ?? [])")
        }
    }

    @Test func `only statements that change the session have no named columns`() {
        let unnamed = StoreStatement.all.filter { $0.columns == nil }.map(\.name)
        #expect(unnamed == ["short_lock_timeout", "limit_judging", "listen", "unlisten", "limit_time"])
    }

    @Test func `the list of statements is complete`() throws {
        let folder = try ProjectFolder.path() + "/Sources/JobStore/"
        var declared: [String] = []
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasPrefix("StoreStatement") {
            let text = try String(contentsOfFile: folder + file, encoding: .utf8)
            declared += text.matches(of: /= PGStatement\(\s*"([a-z_]+)"/).map { String($0.output.1) }
        }
        #expect(declared.sorted() == StoreStatement.all.map(\.name).sorted())
        #expect(Set(declared).count == declared.count)
    }

    @Test func `swapped, renamed and unnamed columns are found`() throws {
        let queue = try TestQueue()
        for (list, isRight) in [
            ("2 as second, 1 as first", true), ("1 as first, 2 as second", false), ("2 as second, 1", false),
            ("2 as second", false),
        ] {
            let statement = PGStatement("swapped", "select \(list)", returning: SwappedColumn.self)
            #expect(try Self.agrees(statement, queue.connection) == isRight, "\(list)")
        }
        #expect(try Self.agrees(PGStatement("made", SwappedColumn.self), queue.connection))
    }

    @Test func `the fields of an attempt are the attributes of the SQL type`() throws {
        let queue = try TestQueue()
        let attributes = try queue.rows(
            """
            select attname::text from pg_attribute
             where attrelid = 'postrider_internal.finished_attempt'::regclass and attnum > 0 and not attisdropped
             order by attnum
            """
        ).compactMap(\.[0])
        #expect(AttemptField.allCases.map(\.rawValue) == attributes)
    }
}
