// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// A table of a page: its columns, and the view that its rows come from.
struct ViewTable: Sendable {
    /// Above it; empty: nothing stands there.
    let title: String
    /// In their order.
    let columns: [Column]
    /// What follows the select list: `from … order by … limit …`.
    let source: String
    /// What is said if there is no row; nil: then nothing of the table is there.
    var empty: String?

    /// Rows as they were read: a text for each column, nil for null.
    typealias Rows = [[String?]]

    /// The rows now.
    func read(
        _ connection: borrowing PGConnection, _ parameters: consuming PGParameters = PGParameters()
    ) throws(PGError) -> Rows {
        let list = columns.map(\.expression).joined(separator: ", ")
        let result = try connection.query("select \(list) \(source)", &parameters)
        return (0..<result.rowCount).map { row in columns.indices.map { result.optionalText(row, $0) } }
    }

    /// Adds the table without columns that have no value in any row, or what is said if it is empty.
    func write(_ rows: Rows, to html: inout HTML) {
        if rows.isEmpty && empty == nil { return }
        html.element("section") { html in
            if !title.isEmpty { html.element("h2", title) }
            guard !rows.isEmpty else {
                html.element("p", ["class": "empty"], empty ?? "")
                return
            }
            let shown = columns.indices.filter { column in rows.contains { $0[column]?.isEmpty == false } }
            // Wide ones move in their own frame, the page does not.
            html.element("div", ["class": "scroll"]) { html in
                html.element("table") { html in
                    html.element("thead") { html in
                        html.element("tr") { html in
                            for index in shown {
                                html.element("th", ["class": columns[index].alignment], columns[index].title)
                            }
                        }
                    }
                    html.element("tbody") { html in
                        for row in rows {
                            html.element("tr") { html in
                                for index in shown { write(row[index], columns[index], to: &html) }
                            }
                        }
                    }
                }
            }
        }
    }

    private func write(_ value: String?, _ column: Column, to html: inout HTML) {
        html.element("td", ["class": column.alignment]) { column.write(value, to: &$0) }
    }

    /// What the rows have in a column of numbers, in all.
    func sum(_ title: String, _ rows: Rows) -> Int {
        guard let index = columns.firstIndex(where: { $0.title == title }) else { return 0 }
        return rows.reduce(0) { $0 + ($1[index].flatMap(Int.init) ?? 0) }
    }
}

extension Column {
    /// The class of its cells.
    fileprivate var alignment: String {
        switch kind {
        case .number, .size, .span, .job: "right"
        case .moment: "time"
        default: "left"
        }
    }
}
