// SPDX-License-Identifier: Apache-2.0

import Foundation
import PrivateCluster
import TestSupport
import Testing

/// The schema that `worker migrate` makes must equal `Tests/Fixtures/schema.sql`.
struct SchemaFixtureTests {
    @Test(.enabled("pg_dump 15 writes the fixture") { try TestCluster.version == 15 })
    func `a migrated database has the schema of Tests/Fixtures/schema.sql`() throws {
        let queue = try TestQueue()
        let found = try PythonProgram.run(
            "scripts/dump_schema.py", ["--bin", ServerBinaries.find().directory, queue.database])
        let kept = try String(contentsOfFile: ProjectFolder.path() + "/Tests/Fixtures/schema.sql", encoding: .utf8)
        let changes = KeptList.changes(
            from: kept.split(separator: "\n").map(String.init), to: found.split(separator: "\n").map(String.init))
        #expect(changes.isEmpty, "run make generate if this is meant:\n\(changes.prefix(20).joined(separator: "\n"))")
    }
}
