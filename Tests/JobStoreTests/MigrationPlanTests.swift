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

    @Test func `all applied is current`() {
        #expect(Self.state(Self.both) == .current)
    }

    @Test func `nothing applied is older`() {
        #expect(Self.state([]) == .older(["0001_a.sql", "functions/f.sql"]))
    }

    @Test func `a function with another text of the same version is older`() {
        #expect(Self.state([Self.row("0001_a.sql"), Self.row("functions/f.sql", "b")]) == .older(["functions/f.sql"]))
    }

    @Test func `a numbered file with another text is changed`() {
        #expect(Self.state([Self.row("0001_a.sql", "b"), Self.row("functions/f.sql")]) == .changed(["0001_a.sql"]))
    }

    @Test func `an unknown breaking file is newer`() {
        #expect(Self.state(Self.both + [Self.row("0002_b.sql")]) == .newer(["0002_b.sql"]))
    }

    @Test func `an unknown file before the last known one is of an unreleased version`() {
        let rows = [Self.row("0001.sql"), Self.row("0003_later.sql"), Self.row("functions/f.sql")]
        let files = [("0002_b.sql", "a"), ("functions/f.sql", "a")]
        let plan = MigrationPlan(files: files, applied: rows, version: "1.0.0")
        #expect(plan.state == .unreleased(["0001.sql"]))
        #expect(plan.names(.unknown) == ["0003_later.sql"])
        #expect(plan.names(.pending) == ["0002_b.sql"])
    }

    @Test func `an unknown file that breaks nothing lets the worker go on`() {
        let rows = Self.both + [Self.row("0002_b.sql", version: "1.1.0", breaking: false)]
        #expect(Self.state(rows) == .current)
    }

    @Test func `a newer text of a function lets the worker go on`() {
        let rows = [Self.row("0001_a.sql"), Self.row("functions/f.sql", "b", version: "1.1.0")]
        #expect(Self.state(rows) == .current)
    }

    @Test func `a function that is no longer carried does not matter`() {
        #expect(Self.state(Self.both + [Self.row("functions/gone.sql", version: "0.9.0")]) == .current)
    }

    @Test func `behind and ahead at once is newer`() {
        let rows = [Self.row("0001_a.sql"), Self.row("0002_b.sql", version: "1.1.0", breaking: false)]
        #expect(Self.state(rows) == .newer(["0002_b.sql"]))
    }
}
