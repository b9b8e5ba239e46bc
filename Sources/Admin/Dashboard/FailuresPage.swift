// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// The failures that ended last, counted by their cause.
struct FailuresPage: DashboardPage {
    /// The states that count as failures.
    static let states = ["failed", "unknown", "expired"]

    private let filters: PageFilters
    private let groups: FailureGroups
    private let bar: FilterBar
    private let acts: Bool

    let title = "Failures"
    let path = "/failures"

    /// How many failures are read. It takes up to 0.1 s.
    private static let window = 10_000

    init(_ filters: PageFilters, acts: Bool, _ connection: borrowing PGConnection) throws(PGError) {
        self.filters = filters
        self.acts = acts
        var parameters = PGParameters()
        let filter = filters.jobFilter(limit: 1).json(&parameters)
        groups = try FailureGroups(filter, window: FailuresPage.window, connection, parameters)
        bar = try JobsPage.bar(
            "/failures", shown: 7, filters, states: FailuresPage.states, hasLimit: false, connection)
    }

    func write(to html: inout HTML) {
        bar.write(to: &html)
        let isFiltered = !filters.values.isEmpty
        groups.write(
            title: "", filters: filters.ofJobs, acts: acts, hasBoxes: true,
            empty: isFiltered ? "No failure matches these filters." : "No job has failed.", to: &html)
        html.element("p", ["class": "paging"]) { html in
            html.text("Read: the \(Column.grouped("\(groups.looked)")) failures that ended last")
            html.text(filters["until"] == nil ? "" : " before this time")
            guard let reached = groups.reached else { return html.text(", which are all. ") }
            html.text(", back to \(reached) UTC. ")
            let further = filters.values.filter { $0.0 != "until" } + [("until", reached)]
            html.element("a", ["href": Column.link("/failures", further), "rel": "next"], "Look further back")
        }
    }
}
