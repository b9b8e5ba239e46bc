// SPDX-License-Identifier: Apache-2.0

import PGClient

extension TestQueue {
    /// Whether two echoes of a request are equal. False if one is missing or no JSON.
    ///
    /// - Parameter normal: an SQL expression that leaves out the differences between two clients; `$1` is the echo.
    public func areEqual(_ echo: String, _ other: String?, by normal: String) -> Bool {
        guard let other else { return false }
        var parameters = PGParameters()
        parameters.append(text: echo)
        parameters.append(text: other)
        let same = try? connection.query(
            "select (\(normal)) = (\(normal.replacing("$1", with: "$2")))", &parameters
        ).bool(0, 0)
        return same == true
    }
}
