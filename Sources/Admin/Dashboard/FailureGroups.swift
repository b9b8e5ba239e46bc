// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// Failures counted by service, lane, error, status and state.
struct FailureGroups: Sendable {
    /// The failures that were read.
    let looked: Int
    /// The end of the oldest failure that was read; nil: all were read.
    let reached: String?
    let rows: ViewTable.Rows

    /// Reads the groups.
    ///
    /// - Parameters:
    ///   - filter: an expression of jsonb with these parameters; see `JobFilter.json`.
    ///   - window: how many failures are read.
    init(
        _ filter: String, window: Int, _ connection: borrowing PGConnection,
        _ parameters: consuming PGParameters = PGParameters()
    ) throws(PGError) {
        let table = ViewTable(
            title: "", columns: FailureGroups.columns,
            source: "from postrider_internal.failure_groups(\(filter), \(window)) g")
        let rows = try table.read(connection, parameters)
        let first = rows.first.map { ViewTable.Row(columns: FailureGroups.columns, values: $0) }
        looked = first?["looked"].flatMap(Int.init) ?? 0
        reached = first?["reached"]
        // Without a group there is one row with these two values.
        self.rows = rows.filter { ViewTable.Row(columns: FailureGroups.columns, values: $0)["jobs"] != nil }
    }

    /// The groups, to be read by the titles of their columns.
    var causes: [ViewTable.Row] { rows.map { ViewTable.Row(columns: FailureGroups.columns, values: $0) } }

    /// Adds the table.
    ///
    /// - Parameters:
    ///   - filters: the arguments of /jobs that hold for all groups.
    ///   - hasBoxes: whether causes can be ticked.
    func write(
        title: String, filters: [(String, String)], acts: Bool, hasBoxes: Bool = false, empty: String,
        limit: Int = 200, to html: inout HTML
    ) {
        let table = ViewTable(
            title: title, columns: FailureGroups.columns, source: "", limit: limit, empty: empty,
            links: { row in
                let target = FailureGroups.target(row, filters)
                var links = [ViewTable.RowLink("show jobs", Column.link("/jobs", target))]
                if acts && row["state"] != "expired" {
                    links.append(.init(ActionLink(act: "retry", label: "retry", target: target)))
                }
                return links
            })
        guard acts && hasBoxes else { return table.write(rows, to: &html) }
        TickForm(causes: rows, table) { row in
            row["state"] == "expired" ? nil : FailureGroups.target(row, filters)
        }.write(to: &html)
    }

    /// The filters of /jobs that select the jobs of a group.
    private static func target(_ row: ViewTable.Row, _ filters: [(String, String)]) -> [(String, String)] {
        let own = [
            ("state", row["state"]), ("service", row["service"]), ("lane", row["lane"]), ("error_code", row["error"]),
            ("error_name", row["name"]), ("status", row["status"]),
        ].compactMap { name, value in value.map { (name, $0) } }
        return filters.filter { filter in !own.contains { $0.0 == filter.0 } } + own
    }

    private static let columns = [
        Column("jobs", .number, "g.jobs"), Column("state", .state, "g.state"), Column("service", .service, "g.service"),
        Column("lane", .lane, "g.lane"), Column("error", .word, "g.error_code"), Column("name", .text, "g.error_name"),
        Column("status", .number, "g.status_code"), Column("first seen", .moment, "g.first_at"),
        Column("last seen", .moment, "g.last_at"), Column("latest job", .job, "g.newest_job"),
        Column("meaning", .text, "g.error"), Column("looked", .hidden, "g.looked"),
        Column("reached", .hidden, "to_char(g.reached, 'YYYY-MM-DD HH24:MI:SS.US')"),
    ]
}
