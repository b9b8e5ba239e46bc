// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// Checks what the login of `worker doctor` may do: run jobs, read only, or neither.
enum RightsCheckup {
    private enum Column: Int, PGColumn {
        case login, role

        var sql: StaticString {
            switch self {
            case .login: "current_user::text as login"
            case .role:
                """
                case when has_table_privilege(s.oid, 'update') then 'postrider_admin'
                  else 'postrider_reader' end as role
                """
            }
        }
    }

    /// Reads catalogs that all roles may read. Only postrider_admin, postrider_reader and workers may execute the
    /// functions of the views. A row means that the login may read `queue_status`.
    private static let question = """
        select \(Column.selectList)
        from pg_namespace n
          join pg_class q on q.relnamespace = n.oid and q.relname = 'queue_status'
          join pg_proc c on c.pronamespace = to_regnamespace('postrider_internal') and c.proname = 'queue_counts'
          join pg_class s on s.relnamespace = n.oid and s.relname = 'settings'
        where n.nspname = 'postrider' and has_schema_privilege(n.oid, 'usage')
          and has_table_privilege(q.oid, 'select') and has_function_privilege(c.oid, 'execute')
        """

    /// The finding about a login that may not run jobs: a notice if it may read, otherwise a fault.
    static func finding(_ connection: borrowing PGConnection, lacking right: MissingRight) throws(PGError) -> Finding {
        let answer = try connection.query(question)
        guard answer.rowCount > 0 else {
            return Finding(.fault, "rights", "\(right.reason); \(right.remedy)")
        }
        return Finding(
            .notice, "rights",
            "\(answer.text(0, Column.login)) has the rights of \(answer.text(0, Column.role)), which runs no jobs, "
                + "so some checks are left out; "
                + "for all checks give doctor the worker's --database")
    }
}
