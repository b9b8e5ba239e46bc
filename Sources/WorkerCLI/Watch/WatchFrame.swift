// SPDX-License-Identifier: Apache-2.0

/// The lines that `worker watch` draws: one for each row, indented like the tree, with a bar.
enum WatchFrame {
    private static let barWidth = 18

    /// One line for each row, at most `width` characters long.
    ///
    /// Below 60 columns the bar is left out, so that the counts fit.
    static func lines(_ rows: [WatchRow], width: Int) -> [String] {
        let hasBar = width >= 60
        // The state takes 10 columns and a space, counts and note about 24. The name gets the rest.
        let right = 11 + (hasBar ? barWidth + 1 : 0) + 24
        let left = max(12, width - right)
        return rows.map { row in
            let name = String(repeating: "  ", count: min(row.depth, 8)) + "\(row.id) \(row.title)"
            var line = padded(name, left - 1) + " " + padded(row.state, 10) + " "
            if hasBar { line += (bar(row) ?? String(repeating: " ", count: barWidth)) + " " }
            line += row.count ?? row.note
            if row.count != nil && !row.note.isEmpty { line += " \(row.note)" }
            return cut(line, width)
        }
    }

    /// `[########........]`. The bar is full only when all is done.
    static func bar(_ row: WatchRow) -> String? {
        guard let share = row.share else { return nil }
        let inner = barWidth - 2
        let filled = share >= 1 ? inner : min(inner - 1, Int(share * Double(inner)))
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: inner - filled) + "]"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        let shown = cut(text, width)
        return shown + String(repeating: " ", count: width - shown.count)
    }

    private static func cut(_ text: String, _ width: Int) -> String {
        text.count <= width ? text : String(text.prefix(max(0, width - 1))) + "…"
    }
}
