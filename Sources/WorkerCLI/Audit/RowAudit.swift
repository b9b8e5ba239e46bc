// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// Gives bad rows to a database, each in a savepoint of one transaction that is rolled back.
///
/// Nothing of it is left but gaps in the ids, no worker hears of it, and what the rows hold is a marker and no secret.
/// The server's log has a line for each refusal, if it logs statements that fail.
struct RowAudit: ~Copyable {
    /// Of each line about a row.
    static let group = "rows"

    private let connection: PGConnection

    init(_ connection: consuming PGConnection) {
        self.connection = connection
    }

    /// Why no row can be tried with this connection; nil: rows can be tried.
    func obstacle() throws(PGError) -> Finding? {
        let answer = try connection.query(
            """
            select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean, current_user::text,
              has_any_column_privilege('postrider.jobs', 'insert')
                and has_function_privilege('postrider.submit(jsonb)', 'execute')
            """)
        if answer.bool(0, 0) {
            return Finding(.notice, RowAudit.group, "not tried: the database takes no writes; name its primary")
        }
        guard !answer.bool(0, 2) else { return nil }
        return Finding(
            .notice, RowAudit.group,
            "not tried: \(answer.text(0, 1)) may not insert jobs; as the schema's owner: grant postrider_client to \(answer.text(0, 1))"
        )
    }

    /// Tries all of these and hands over a line for each; whatever happens, nothing is committed.
    func run(_ rows: [HostileRow], _ tell: (Finding) -> Void) throws(PGError) {
        // A row that were taken would hold its locks until the end; nobody shall wait for it, nor it for others.
        try connection.execute(
            """
            begin; set local lock_timeout = '5s'; set local statement_timeout = '20s';
            select \(TransactionTimeout.off(isLocal: true));
            set local standard_conforming_strings = on
            """)
        do throws(PGError) {
            for row in rows { tell(try RowAudit.finding(row, refusal(of: row))) }
        } catch {
            try? connection.execute("rollback")
            throw error
        }
        try connection.execute("rollback")
    }

    /// What came of a row; nil: it was taken.
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

    /// One line for the person who reads.
    static func finding(_ row: HostileRow, _ refusal: PGError?) -> Finding {
        guard let defect = row.defect(refusal) else {
            return Finding(.ok, group, "\(row.text): \(refusal?.sqlState?.rawValue ?? "")")
        }
        let text = "\(row.text): must \(row.requirement); \(defect)"
        return Finding(.fault, group, text.replacing(HostileInput.secret, with: "…"))
    }
}
