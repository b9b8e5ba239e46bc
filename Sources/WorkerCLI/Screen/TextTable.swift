// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// Rows in columns of equal width, for a terminal.
enum TextTable {
    /// The header and the rows, with two spaces between columns. Texts are sanitized. All columns except the last are
    /// cut at `widest`.
    static func format(
        _ header: [String], _ rows: [[String]], widest: Int = 60, palette: Palette = .off,
        colour: (_ column: Int, _ text: String) -> Palette.Colour? = { _, _ in nil }
    ) -> String {
        lines(header, rows, widest: widest, palette: palette, colour: colour).map { $0 + "\n" }.joined()
    }

    /// The lines of `format`, without line ends.
    ///
    /// - Parameters:
    ///   - numbers: the columns that are aligned to the right.
    ///   - width: the most characters of a line.
    ///   - colour: the colour of a cell. The header is bold.
    static func lines(
        _ header: [String], _ rows: [[String]], widest: Int = 60, numbers: Set<Int> = [], width: Int = .max,
        palette: Palette = .off, colour: (_ column: Int, _ text: String) -> Palette.Colour? = { _, _ in nil }
    ) -> [String] {
        let cells = ([header] + rows).map { row in
            row.indices.map { cell(row[$0], $0 == header.count - 1 ? .max : widest) }
        }
        let widths = header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.indices.map { number in
            var line = ""
            var room = width
            // Escape sequences take no room, so a text is cut before it is coloured.
            func append(_ text: String, _ colour: Palette.Colour? = nil) {
                let shown = cell(text, room)
                room -= shown.count
                line += palette.paint(shown, colour)
            }
            for (column, text) in cells[number].enumerated() {
                let blanks = String(repeating: " ", count: widths[column] - text.count)
                if numbers.contains(column) { append(blanks) }
                append(text, number == 0 ? .bold : colour(column, text))
                if column < header.count - 1 { append(numbers.contains(column) ? "  " : blanks + "  ") }
            }
            return line
        }
    }

    private static func cell(_ text: String, _ widest: Int) -> String {
        let shown = SanitizedText.escape(text)
        return shown.count > widest ? shown.prefix(max(0, widest - 1)) + (widest > 0 ? "…" : "") : shown
    }
}
