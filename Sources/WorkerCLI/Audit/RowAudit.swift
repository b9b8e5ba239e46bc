// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// Tries bad rows on a database, each in a savepoint of one transaction that is rolled back.
///
/// Only gaps in the ids remain. No worker is notified, and the rows contain a marker instead of secrets. If the server
/// logs failed statements, its log gets a line for each refusal.
struct RowAudit: ~Copyable {
    /// The group of each line about a row.
    static let group = "rows"

    private let connection: PGConnection

    init(_ connection: consuming PGConnection) {
        self.connection = connection
    }

    private enum ObstacleColumn: Int, PGColumn {
        case isReadOnly, login, mayInsert

        var sql: StaticString {
            switch self {
            case .isReadOnly:
                """
                pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as is_read_only
                """
            case .login: "current_user::text as login"
            case .mayInsert:
                """
                has_any_column_privilege('postrider.jobs', 'insert')
                  and has_function_privilege('postrider.submit(jsonb)', 'execute') as may_insert
                """
            }
        }
    }

    /// Why no row can be tried on this connection; nil if rows can be tried.
    func obstacle() throws(PGError) -> Finding? {
        let answer = try connection.query("select \(ObstacleColumn.selectList)")
        if answer.bool(0, ObstacleColumn.isReadOnly) {
            return Finding(.notice, RowAudit.group, "skipped: the database takes no writes; connect to its primary")
        }
        guard !answer.bool(0, ObstacleColumn.mayInsert) else { return nil }
        let login = answer.text(0, ObstacleColumn.login)
        return Finding(
            .notice, RowAudit.group,
            "skipped: \(login) may not insert jobs; as the schema's owner: grant postrider_client to \(login)"
        )
    }

    /// Tries all rows and reports a line for each. It never commits.
    func run(_ rows: [HostileRow], _ report: (Finding) -> Void) throws(PGError) {
        // An accepted row would hold its locks until the end. Other sessions must not wait for them for long, nor this
        // one for theirs.
        try connection.execute(
            """
            begin; set local lock_timeout = '5s'; set local statement_timeout = '20s';
            select \(TransactionTimeout.off(isLocal: true));
            set local standard_conforming_strings = on
            """)
        do throws(PGError) {
            for row in rows { report(try RowAudit.finding(row, refusal(of: row))) }
        } catch {
            try? connection.execute("rollback")
            throw error
        }
        try connection.execute("rollback")
    }

    /// The error of a row; nil if the database accepted it.
    private func refusal(of row: HostileRow) throws(PGError) -> PGError? {
        try connection.execute("savepoint audit")
        var refusal: PGError?
        do throws(PGError) {
            try connection.execute(row.statement)
        } catch {
            guard error.code == .server else { throw error }
            refusal = error
        }
        try connection.execute("rollback to savepoint audit")
        return refusal
    }

    /// One line for the user.
    static func finding(_ row: HostileRow, _ refusal: PGError?) -> Finding {
        guard let defect = row.defect(refusal) else {
            return Finding(.ok, group, "\(row.text): \(refusal?.sqlState?.rawValue ?? "")")
        }
        let text = "\(row.text): must \(row.requirement); \(defect)"
        return Finding(.fault, group, text.replacing(HostileInput.secret, with: "…"))
    }
}
