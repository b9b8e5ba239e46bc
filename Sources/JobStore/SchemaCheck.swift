// SPDX-License-Identifier: Apache-2.0

internal import JobModel
internal import Migrations
public import PGClient

/// Checks whether a database has the schema of this worker.
///
/// The server computes the checksums of the files once. After that a check is one small query. A running worker repeats
/// it when its statements fail with errors that another schema causes.
public struct SchemaCheck: Sendable {
    private enum HistoryColumn: Int, PGColumn {
        case name, checksum, workerVersion, isBreaking

        var sql: StaticString {
            switch self {
            case .name: "name"
            case .checksum: "checksum"
            case .workerVersion: "worker_version"
            case .isBreaking: "breaking"
            }
        }
    }

    /// Reads the history. Fails with `undefined_table` in a database without a schema.
    public static let historyStatement = PGStatement(
        "schema_history", HistoryColumn.self, "from postrider.migrations")

    private let files: [(name: String, checksum: String)]
    private let version: String

    /// Lets the server compute the checksums of the files in this program.
    public init(_ connection: borrowing PGConnection) throws(StoreError) {
        try self.init(files: MigrationOrder.sorted(Migrations.all), version: "\(ProductVersion.current)", connection)
    }

    init(
        files: [MigrationFile], version: String, _ connection: borrowing PGConnection
    ) throws(StoreError) {
        var bytes = PGArrayBuilder<[UInt8]>()
        for file in files { bytes.append(file.bytes) }
        var parameters = PGParameters()
        parameters.append(array: bytes)
        var checksums: [String] = []
        do throws(PGError) {
            let result = try connection.query(
                """
                select encode(sha256(f.bytes), 'hex') as value
                from unnest($1) with ordinality as f(bytes, position) order by position
                """, &parameters)
            for row in 0..<result.rowCount { checksums.append(result.text(row, PGValueColumn.value)) }
        } catch {
            throw StoreError.database("checksums", error)
        }
        self.files = Array(zip(files.map(\.name), checksums))
        self.version = version
    }

    /// Compares the files with the rows of `historyStatement`.
    public func plan(history: borrowing PGResult) -> MigrationPlan {
        var applied: [MigrationPlan.Applied] = []
        for row in 0..<history.rowCount {
            applied.append(
                MigrationPlan.Applied(
                    name: history.text(row, HistoryColumn.name),
                    checksum: history.text(row, HistoryColumn.checksum),
                    workerVersion: history.text(row, HistoryColumn.workerVersion),
                    isBreaking: history.bool(row, HistoryColumn.isBreaking)))
        }
        return MigrationPlan(files: files, applied: applied, version: version)
    }

    /// Compares the files with the database. Nil without a history, which means no schema. Changes nothing.
    public func plan(_ connection: borrowing PGConnection) throws(StoreError) -> MigrationPlan? {
        do throws(PGError) {
            let there = try connection.query("select to_regclass('postrider.migrations') is not null as value")
            guard there.bool(0, PGValueColumn.value) else { return nil }
            return plan(history: try connection.query(Self.historyStatement.sql))
        } catch {
            throw StoreError.database("migration history", error)
        }
    }

    /// Whether this worker may run on the database.
    public func state(_ connection: borrowing PGConnection) throws(StoreError) -> SchemaState {
        try plan(connection)?.state ?? .missing
    }

    func checksum(of name: String) -> String? { files.first { $0.name == name }?.checksum }
}
