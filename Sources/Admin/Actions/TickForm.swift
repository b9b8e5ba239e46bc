// SPDX-License-Identifier: Apache-2.0

/// The form around a list: boxes to tick single rows, and a button for each act on the ticked ones.
///
/// It leads to the page that confirms the act. So it needs no form token, and works without a script. The script keeps
/// the box for all rows and the boxes of the rows in step, and counts the ticked ones.
struct TickForm: Sendable {
    /// The box of a row.
    struct Box: Sendable {
        let value: String
        /// The name of the row for screen readers.
        let label: String
    }

    private let rows: ViewTable.Rows
    private var table: ViewTable
    /// The argument of `/act` with the values of the ticked boxes.
    private let field: String
    /// The most boxes that one act takes.
    private let most: Int
    private let kinds: [Act.Kind]

    /// A list of jobs, with the columns `job` and `state`. It has the acts that fit a state of the list.
    init(jobs rows: ViewTable.Rows, _ table: ViewTable) {
        self.rows = rows
        self.table = table
        (field, most) = (TickedJobs.field, TickedJobs.most)
        let states = Set(rows.compactMap { ViewTable.Row(columns: table.columns, values: $0)["state"] })
        kinds = [Act.Kind.retry, .cancel, .reschedule].filter {
            !states.isDisjoint(with: JobSelection.states(for: $0))
        }
        self.table.box = { row in
            row["job"].map { Box(value: $0, label: "job \($0), \(row["state"] ?? "")") }
        }
    }

    /// A list of causes of failures.
    ///
    /// - Parameter target: the filters of the jobs of a row; nil: the row has no box.
    init(
        causes rows: ViewTable.Rows, _ table: ViewTable,
        _ target: @escaping @Sendable (ViewTable.Row) -> [(String, String)]?
    ) {
        self.rows = rows
        self.table = table
        (field, most) = (TickedCauses.field, TickedCauses.most)
        kinds = [.retry]
        self.table.box = { row in
            target(row).map { Box(value: TickedCauses.text($0), label: TickedCauses.words($0)) }
        }
    }

    /// Adds the table with its boxes; without boxes if no act fits any of its rows.
    func write(to html: inout HTML) {
        let values = rows.prefix(table.limit ?? rows.count).compactMap {
            table.box?(ViewTable.Row(columns: table.columns, values: $0))?.value
        }
        guard !kinds.isEmpty, !values.isEmpty else {
            var plain = table
            plain.box = nil
            return plain.write(rows, to: &html)
        }
        html.element("form", ["class": "ticks", "action": Actions.path]) { html in
            html.element("div", ["class": "actions"]) { html in
                if (2...most).contains(values.count) {
                    // One box that stands for all rows. Its value has all of theirs, so it works without a script.
                    html.element("label") { html in
                        TickForm.input(field, values.joined(separator: ","), label: nil, to: &html)
                        html.text(" all \(values.count) on this page")
                    }
                }
                for kind in kinds {
                    html.element("button", ["name": Act.kindField, "value": kind.rawValue], "\(kind.verb) ticked")
                }
                // Screen readers read the count aloud when the script changes it.
                html.element("output", "")
            }
            table.write(rows, boxName: field, to: &html)
        }
    }

    /// A box.
    ///
    /// - Parameter label: nil: the box for all rows, which has a visible label.
    static func input(_ name: String, _ value: String, label: String?, to html: inout HTML) {
        if let label {
            html.open("input", ["type": "checkbox", "name": name, "value": value, "aria-label": label])
        } else {
            html.open("input", ["type": "checkbox", "name": name, "value": value, "data-all": ""])
        }
    }
}
