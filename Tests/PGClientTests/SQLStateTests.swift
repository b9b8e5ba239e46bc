// SPDX-License-Identifier: Apache-2.0

import PGClient
import Testing

/// The meaning of a database error for its statement.
struct SQLStateTests {
    @Test(arguments: [
        ("53200", SQLState.Cause.shortage), ("53100", .shortage), ("53300", .shortage), ("57014", .shortage),
        ("57P01", .shortage),
        ("58030", .shortage), ("XX000", .shortage), ("XX001", .shortage), ("55P03", .shortage), ("40001", .shortage),
        ("40P01", .shortage), ("22021", .value), ("23514", .value), ("54000", .value), ("42P01", .schema),
        ("3F000", .schema),
        ("42501", .other), ("P0001", .other), ("PR008", .other), ("25006", .other),
    ])
    func `each SQLSTATE maps to its cause`(state: String, cause: SQLState.Cause) {
        #expect(SQLState(rawValue: state).cause == cause)
    }
}
