// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Rows in columns of equal width, for a terminal.
enum TextTable {
    /// The header and the rows, with two spaces between columns. Texts are sanitized. All columns except the last are
    /// cut at `widest`.
    static func format(_ header: [String], _ rows: [[String]], widest: Int = 60) -> String {
        let cells = ([header] + rows).map { row in
            row.indices.map { cell(row[$0], $0 == header.count - 1 ? .max : widest) }
        }
        let widths = header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            var line = ""
            for (index, text) in row.enumerated() {
                line += text
                if index < row.count - 1 {
                    line += String(repeating: " ", count: widths[index] - text.count + 2)
                }
            }
            return line + "\n"
        }.joined()
    }

    private static func cell(_ text: String, _ widest: Int) -> String {
        let shown = SanitizedText.escape(text)
        return shown.count > widest ? shown.prefix(widest - 1) + "…" : shown
    }
}
