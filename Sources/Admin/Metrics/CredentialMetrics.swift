// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The state of each credential: 1 for its present state, 0 for the others.
enum CredentialMetrics {
    private enum Column: Int, PGColumn {
        case name, state

        var sql: StaticString {
            switch self {
            case .name: "name"
            case .state: "state"
            }
        }
    }

    private static let states = ["active", "refreshing", "cooldown", "logged_off"]
    /// The most credentials with samples of their own.
    private static let limit = 200

    private static let query = """
        select \(Column.selectList) from postrider.credential_status order by name limit 1000
        """

    static func append(from connection: borrowing PGConnection, to metrics: inout MetricsText) throws(PGError) {
        let credentials = try connection.query(query)
        metrics.family(
            "postrider_credential_state", .gauge, "1 for the present state of a credential, 0 for its other states.")
        var others: Set<String> = []
        for row in 0..<credentials.rowCount {
            let present = credentials.text(row, Column.state)
            guard row < limit else {
                others.insert(present)
                continue
            }
            for state in states {
                metrics.sample(
                    "postrider_credential_state", ["credential": credentials.text(row, Column.name), "state": state],
                    state == present ? 1 : 0)
            }
        }
        for state in states where !others.isEmpty {
            metrics.sample(
                "postrider_credential_state", ["credential": "other", "state": state], others.contains(state) ? 1 : 0)
        }
    }
}
