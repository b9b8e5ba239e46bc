// SPDX-License-Identifier: Apache-2.0

import JobStore
import Testing

struct MigrationPlanTests {
    private static func row(
        _ name: String, _ checksum: String = "a", version: String = "1.0.0", breaking: Bool = true
    ) -> MigrationPlan.Applied {
        MigrationPlan.Applied(name: name, checksum: checksum, workerVersion: version, isBreaking: breaking)
    }

    private static func state(_ applied: [MigrationPlan.Applied]) -> SchemaState {
        let files = [("0001_a.sql", "a"), ("functions/f.sql", "a")]
        return MigrationPlan(files: files, applied: applied, version: "1.0.0").state
    }

    private static let both = [row("0001_a.sql"), row("functions/f.sql")]

    @Test func `a schema with all files applied is current`() {
        #expect(Self.state(Self.both) == .current)
    }

    @Test func `a schema with no file applied is older`() {
        #expect(Self.state([]) == .older(["0001_a.sql", "functions/f.sql"]))
    }

    @Test func `a schema whose function has another text of the same version is older`() {
        #expect(Self.state([Self.row("0001_a.sql"), Self.row("functions/f.sql", "b")]) == .older(["functions/f.sql"]))
    }

    @Test func `a schema whose numbered file has another text is changed`() {
        #expect(Self.state([Self.row("0001_a.sql", "b"), Self.row("functions/f.sql")]) == .changed(["0001_a.sql"]))
    }

    @Test func `a schema with an unknown breaking file is newer`() {
        #expect(Self.state(Self.both + [Self.row("0002_b.sql")]) == .newer(["0002_b.sql"]))
    }

    @Test func `an unknown file before the last known file means an unreleased schema`() {
        let rows = [Self.row("0001.sql"), Self.row("0003_later.sql"), Self.row("functions/f.sql")]
        let files = [("0002_b.sql", "a"), ("functions/f.sql", "a")]
        let plan = MigrationPlan(files: files, applied: rows, version: "1.0.0")
        #expect(plan.state == .unreleased(["0001.sql"]))
        #expect(plan.names(.unknown) == ["0003_later.sql"])
        #expect(plan.names(.pending) == ["0002_b.sql"])
    }

    @Test func `a schema with an unknown compatible file is current`() {
        let rows = Self.both + [Self.row("0002_b.sql", version: "1.1.0", breaking: false)]
        #expect(Self.state(rows) == .current)
    }

    @Test func `a schema with a newer text of a function is current`() {
        let rows = [Self.row("0001_a.sql"), Self.row("functions/f.sql", "b", version: "1.1.0")]
        #expect(Self.state(rows) == .current)
    }

    @Test func `a schema with a removed function of an older version is current`() {
        #expect(Self.state(Self.both + [Self.row("functions/gone.sql", version: "0.9.0")]) == .current)
    }

    @Test func `a schema that lacks known files and has unknown files is newer`() {
        let rows = [Self.row("0001_a.sql"), Self.row("0002_b.sql", version: "1.1.0", breaking: false)]
        #expect(Self.state(rows) == .newer(["0002_b.sql"]))
    }
}
