// SPDX-License-Identifier: Apache-2.0

/// The form around a list of jobs: boxes to tick single jobs, and a button for each act on the ticked ones.
///
/// It leads to the page that confirms the act. So it needs no form token, and works without a script. The script keeps
/// the box for all jobs and the boxes of the rows in step, and counts the ticked ones.
struct TickForm {
    private let rows: ViewTable.Rows
    private let table: ViewTable

    /// A table with the columns `job` and `state`.
    init(_ rows: ViewTable.Rows, _ table: ViewTable) {
        self.rows = rows
        self.table = table
    }

    /// Adds the table with its boxes; without boxes if no act fits any of its jobs.
    func write(to html: inout HTML) {
        let jobs = rows.map { ViewTable.Row(columns: table.columns, values: $0) }
        let (ids, states) = (jobs.compactMap { $0["job"] }, Set(jobs.compactMap { $0["state"] }))
        let kinds = [Act.Kind.retry, .cancel, .reschedule].filter {
            !states.isDisjoint(with: JobSelection.states(for: $0))
        }
        guard !kinds.isEmpty else { return table.write(rows, to: &html) }
        html.element("form", ["class": "ticks", "action": Actions.path]) { html in
            html.element("div", ["class": "actions"]) { html in
                if (2...TickedJobs.most).contains(ids.count) { writeBoxForAll(ids, to: &html) }
                for kind in kinds {
                    html.element("button", ["name": Act.kindField, "value": kind.rawValue], "\(kind.verb) ticked")
                }
                // Screen readers read the count aloud when the script changes it.
                html.element("output", "")
            }
            var ticked = table
            ticked.hasTicks = true
            ticked.write(rows, to: &html)
        }
    }

    /// One box that stands for all rows. Its value has all ids, so it works without a script.
    private func writeBoxForAll(_ ids: [String], to html: inout HTML) {
        html.element("label") { html in
            html.open(
                "input",
                [
                    "type": "checkbox", "name": TickedJobs.field, "value": ids.joined(separator: ","),
                    "data-all": "",
                ])
            html.text(" all \(ids.count) on this page")
        }
    }

    /// The first cell of a row.
    static func writeBox(_ row: ViewTable.Row, to html: inout HTML) {
        let id = row["job"] ?? ""
        html.element("td", ["class": "tick"]) { html in
            html.element("label") { html in
                html.open(
                    "input",
                    [
                        "type": "checkbox", "name": TickedJobs.field, "value": id,
                        "aria-label": "job \(id), \(row["state"] ?? "")",
                    ])
            }
        }
    }
}
