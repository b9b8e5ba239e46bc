// SPDX-License-Identifier: Apache-2.0

import Migrations
import Testing

@testable import JobStore

/// A line `-- planner: …` at the top of a file becomes `set` lines of its function.
struct PlannerHeaderTests {
    private static let searchPath = "set search_path = pg_catalog, pg_temp\n"

    private static func file(_ header: String, path: String = searchPath) -> MigrationFile {
        let text = "-- A\n\(header)create function f() returns int language sql\n\(path)as 'select 1';\n"
        return MigrationFile(name: "functions/f.sql", bytes: Array(text.utf8))
    }

    @Test func `each word of a planner header becomes set lines after the search path`() throws {
        let text = String(
            decoding: try PlannerHeader.expanded(Self.file("-- planner: no-jit, nested-loops\n")).bytes, as: UTF8.self)
        #expect(
            text == """
                -- A
                -- planner: no-jit, nested-loops
                create function f() returns int language sql
                set search_path = pg_catalog, pg_temp
                set jit = off
                set enable_hashjoin = off
                set enable_mergejoin = off
                as 'select 1';

                """)
    }

    @Test func `a file without a planner header stays unchanged`() throws {
        #expect(try PlannerHeader.expanded(Self.file("")) == Self.file(""))
    }

    @Test(arguments: [
        (Self.file("-- planner: no-jitt\n"), "functions/f.sql: unknown planner setting no-jitt; give one of "),
        (Self.file("-- planner: no-jit\n", path: ""), "functions/f.sql: a planner header needs a function with a "),
    ])
    func `an invalid planner header is refused with the file's name`(file: MigrationFile, message: String) {
        let error = #expect(throws: StoreError.self) { _ = try PlannerHeader.expanded(file) }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    }

    @Test func `only planner headers set planner settings, except in three functions`() throws {
        // These three functions have a setting that no other function has.
        let exceptions = ["cache_merge", "make_tracks", "move_jobs_of_removed_tracks"]
        let setting = /(?m)^set (?:jit|plan_cache_mode|enable_\w+)\b/
        for file in Migrations.all where !exceptions.contains(where: { file.name.hasSuffix("/\($0).sql") }) {
            #expect(!String(decoding: file.bytes, as: UTF8.self).contains(setting), "\(file.name)")
        }
    }
}
