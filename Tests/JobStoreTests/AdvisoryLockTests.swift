// SPDX-License-Identifier: Apache-2.0

import Foundation
import Migrations
import Testing

@testable import JobStore

/// The numbers of advisory locks stand in the functions that take them. `migrations/README.md` lists the numbers.
struct AdvisoryLockTests {
    private static let readme = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("migrations/README.md")

    /// "KEY SECOND FUNCTION" for each lock in the list.
    private static func listed() throws -> Set<String> {
        let text = try String(contentsOf: readme, encoding: .utf8)
        var locks: Set<String> = []
        for line in text.split(separator: "\n") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count == 6, let key = Int64(cells[1]) else { continue }
            for name in cells[4].split(separator: ", ") {
                locks.insert("\(key) \(second(cells[2])) \(name.trimmingCharacters(in: ["`"]))")
            }
        }
        return locks
    }

    /// The second key if it is a number, `*` if it is computed, and empty if it is missing.
    private static func second(_ key: some StringProtocol) -> String {
        key.isEmpty || Int32(key) != nil ? String(key) : "*"
    }

    /// "KEY SECOND FUNCTION" for each lock that a function takes.
    private static func taken() throws -> Set<String> {
        var locks: Set<String> = ["\(Migrator.lockKey)  Migrator"]
        let call = /advisory_[a-z_]*lock[a-z_]*\(([^,)]*)(?:, *([^)]*))?/
        for file in Migrations.all where file.name.contains("/") {
            let name = file.name.split(separator: "/").last?.dropLast(4) ?? ""
            for line in String(decoding: file.bytes, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("--") {
                for match in line.matches(of: call) {
                    locks.insert("\(match.output.1) \(second(match.output.2 ?? "")) \(name)")
                }
            }
        }
        return locks
    }

    @Test func `migrations/README.md lists exactly the advisory locks that the functions take`() throws {
        #expect(try Self.listed() == (try Self.taken()))
    }
}
