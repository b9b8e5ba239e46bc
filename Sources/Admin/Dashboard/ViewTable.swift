// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// A table of a page: its columns, and the source of its rows.
struct ViewTable: Sendable {
    /// The headline; empty: none.
    let title: String
    let columns: [Column]
    /// The SQL after the select list: `from … order by …`.
    let source: String
    /// The maximum number of shown rows. If there are more, the page says so. Nil: all rows of `source`.
    var limit: Int?
    /// How many rows of the source come before the first one.
    var offset = 0
    /// Whether the page has links to further rows.
    var isPaged = false
    /// Columns whose sums over all rows of the source are read, including rows that are not shown.
    var sums: [String] = []
    /// The text for an empty table; nil: an empty table is left out.
    var empty: String?
    /// A statement that makes the first row, shown below the text for an empty table.
    var example: String?
    /// Links behind each row.
    var links: (@Sendable (Row) -> [RowLink])?
    /// The box in front of a row, in a table with a `TickForm` around it. A row without one has an empty cell.
    var box: (@Sendable (Row) -> TickForm.Box?)?

    /// A link behind a row.
    struct RowLink: Sendable {
        let label: String
        let href: String

        init(_ label: String, _ href: String) {
            self.label = label
            self.href = href
        }

        init(_ act: ActionLink) { self.init(act.label, act.href) }
    }

    /// The values of a row by the titles of their columns.
    struct Row: Sendable {
        let columns: [Column]
        let values: [String?]

        /// Nil: null, empty, or no such column.
        subscript(title: String) -> String? {
            guard let place = columns.firstIndex(where: { $0.title == title }), let value = values[place],
                !value.isEmpty
            else { return nil }
            return value
        }
    }

    /// The read rows: a text for each column, nil for null, then the sums.
    typealias Rows = [[String?]]

    /// Reads the rows.
    func read(
        _ connection: borrowing PGConnection, _ parameters: consuming PGParameters = PGParameters()
    ) throws(PGError) -> Rows {
        let list = columns.map(\.expression) + sums.map { "(sum(\($0)) over ())::text" }
        // One row more than is shown, to find out whether there are more.
        let cut = (limit.map { " limit \($0 + 1)" } ?? "") + (offset > 0 ? " offset \(offset)" : "")
        let result = try connection.query("select \(list.joined(separator: ", ")) \(source)\(cut)", &parameters)
        return (0..<result.rowCount).map { row in list.indices.map { result.optionalText(row, $0) } }
    }

    /// Adds the table without columns that are empty in all rows. For an empty table it adds the text `empty`.
    ///
    /// - Parameter boxName: the name of the boxes.
    func write(_ rows: Rows, boxName: String = "", to html: inout HTML) {
        if rows.isEmpty && empty == nil { return }
        html.element("section") { html in
            if !title.isEmpty { html.element("h2", title) }
            guard !rows.isEmpty else {
                html.element("p", ["class": "empty"], empty ?? "")
                if let example { html.element("pre", example) }
                return
            }
            let shown = columns.indices.filter { column in
                columns[column].kind != .hidden && rows.contains { $0[column]?.isEmpty == false }
            }
            // A wide table scrolls in its own frame, so the page does not scroll sideways.
            html.element("div", ["class": "scroll"]) { html in
                html.element("table") { html in
                    html.element("thead") { html in
                        html.element("tr") { html in
                            if box != nil {
                                html.element("th", ["scope": "col"]) {
                                    $0.element("span", ["class": "hidden"], "ticked")
                                }
                            }
                            for index in shown {
                                html.element(
                                    "th", ["class": columns[index].alignment, "scope": "col"], columns[index].title)
                            }
                            if links != nil { html.element("th", ["scope": "col"], "links") }
                        }
                    }
                    html.element("tbody") { html in
                        for row in rows.prefix(limit ?? rows.count) {
                            html.element("tr") { html in
                                let named = Row(columns: columns, values: row)
                                if let box { write(box(named), boxName, to: &html) }
                                for index in shown { write(row[index], columns[index], to: &html) }
                                if let links { write(links(named), to: &html) }
                            }
                        }
                    }
                }
            }
            if let limit, !isPaged, rows.count > limit {
                html.element("p", ["class": "empty"], "The first \(limit) rows; there are more.")
            }
        }
    }

    private func write(_ value: String?, _ column: Column, to html: inout HTML) {
        // The style sheet shows the title in front of the value if the window is narrow.
        html.element("td", ["class": column.alignment, "data-title": column.title]) { column.write(value, to: &$0) }
    }

    private func write(_ box: TickForm.Box?, _ name: String, to html: inout HTML) {
        html.element("td", ["class": "tick"]) { html in
            guard let box else { return }
            html.element("label") { TickForm.input(name, box.value, label: box.label, to: &$0) }
        }
    }

    private func write(_ links: [RowLink], to html: inout HTML) {
        html.element("td", ["class": "links"]) { html in
            for link in links {
                html.element("a", ["href": link.href], link.label)
                html.text(" ")
            }
        }
    }

    /// Whether there are more rows than are shown.
    func hasMore(_ rows: Rows) -> Bool { limit.map { rows.count > $0 } ?? false }

    /// The value of one of the `sums`.
    func sum(_ column: String, _ rows: Rows) -> Int {
        guard let place = sums.firstIndex(of: column) else { return 0 }
        return rows.first?[columns.count + place].flatMap(Int.init) ?? 0
    }
}

extension Column {
    /// The CSS class of its cells.
    fileprivate var alignment: String {
        switch kind {
        case .number, .size, .span, .job: "right"
        case .moment: "time"
        // In a narrow window it takes the whole width.
        case .text, .code: "left long"
        default: "left"
        }
    }
}
