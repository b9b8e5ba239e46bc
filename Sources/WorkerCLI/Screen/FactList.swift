// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The facts about one object, as lines of a key and its value.
enum FactList {
    /// The columns of a statement that has one fact per row, from a table `f`.
    enum Column: Int, PGColumn {
        case key, value

        var sql: StaticString {
            switch self {
            case .key: "f.key as key"
            case .value: "f.value as value"
            }
        }
    }

    /// One fact. Further lines of the value are indented, so that none looks like a fact of its own.
    ///
    /// - Parameters:
    ///   - value: escaped for the terminal.
    ///   - width: the column in which values begin.
    static func text(_ key: String, _ value: String, width: Int) -> String {
        let margin = String(repeating: " ", count: width)
        return key + String(repeating: " ", count: max(1, width - key.count))
            + value.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n" + margin) + "\n"
    }
}
