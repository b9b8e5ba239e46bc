// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// A table of a page: its columns, and the view that its rows come from.
struct ViewTable: Sendable {
    /// Above it; empty: nothing stands there.
    let title: String
    /// In their order.
    let columns: [Column]
    /// What follows the select list: `from … order by …`.
    let source: String
    /// So many rows are shown, and it is said if there are more; nil: as many as `source` gives.
    var limit: Int?
    /// Columns of the source whose sums over all its rows are read too, also over those that are not shown.
    var sums: [String] = []
    /// What is said if there is no row; nil: then nothing of the table is there.
    var empty: String?

    /// Rows as they were read: a text for each column, nil for null, then the sums.
    typealias Rows = [[String?]]

    /// The rows now.
    func read(
        _ connection: borrowing PGConnection, _ parameters: consuming PGParameters = PGParameters()
    ) throws(PGError) -> Rows {
        let list = columns.map(\.expression) + sums.map { "(sum(\($0)) over ())::text" }
        let cut = limit.map { " limit \($0 + 1)" } ?? ""
        let result = try connection.query("select \(list.joined(separator: ", ")) \(source)\(cut)", &parameters)
        return (0..<result.rowCount).map { row in list.indices.map { result.optionalText(row, $0) } }
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
                        for row in rows.prefix(limit ?? rows.count) {
                            html.element("tr") { html in
                                for index in shown { write(row[index], columns[index], to: &html) }
                            }
                        }
                    }
                }
            }
            if let limit, rows.count > limit {
                html.element("p", ["class": "empty"], "The first \(limit); there are more.")
            }
        }
    }

    private func write(_ value: String?, _ column: Column, to html: inout HTML) {
        html.element("td", ["class": column.alignment]) { column.write(value, to: &$0) }
    }

    /// One of the `sums`.
    func sum(_ column: String, _ rows: Rows) -> Int {
        guard let place = sums.firstIndex(of: column) else { return 0 }
        return rows.first?[columns.count + place].flatMap(Int.init) ?? 0
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
