// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// A page that shows one view, or a few, with charts if its filter names one queue, lane or service.
struct ListPage: DashboardPage {
    /// One table of such a page.
    struct Section: Sendable {
        /// The headline; empty: none.
        var title = ""
        let columns: [Column]
        /// `from …`, without conditions.
        let from: String
        /// `order by …`.
        let order: String
        /// The columns that filters of the page compare with.
        var conditions: [String: String] = [:]
        var limit = 500
        let empty: String
        /// A statement that makes the first row.
        var example: String?
        var links: (@Sendable (ViewTable.Row) -> [ViewTable.RowLink])?
        var acts: (@Sendable (ViewTable.Row) -> [ActionLink])?
    }

    /// The content of such a page.
    struct Plan: Sendable {
        let title: String
        /// Which question the page answers.
        let question: String
        /// The filters of the form.
        var fields: [FilterBar.Field] = []
        /// The filter that shows the charts of one object.
        var charted: String?
        let sections: [Section]
    }

    let path: String
    private let plan: Plan
    private let filters: PageFilters
    private let tables: [(table: ViewTable, rows: ViewTable.Rows)]
    private let charts: TimeCharts?
    private let suggestions: SuggestedNames

    /// The page at a path; nil if the path is unknown.
    init?(
        _ path: String, _ filters: PageFilters, acts: Bool, _ connection: borrowing PGConnection
    ) throws(PGError) {
        guard let plan = ListPage.plans[path] else { return nil }
        self.path = path
        self.plan = plan
        self.filters = filters
        var tables: [(table: ViewTable, rows: ViewTable.Rows)] = []
        for section in plan.sections {
            var parameters = PGParameters()
            let table = ListPage.table(section, filters, acts: acts, &parameters)
            tables.append((table, try table.read(connection, parameters)))
        }
        self.tables = tables
        let isCharted = plan.charted.map { filters[$0] != nil } ?? false
        charts = isCharted ? try TimeCharts(path, filters, connection) : nil
        suggestions = try SuggestedNames(for: plan.fields, connection)
    }

    var title: String { plan.title }

    private static func table(
        _ section: Section, _ filters: PageFilters, acts: Bool, _ parameters: inout PGParameters
    ) -> ViewTable {
        var conditions: [String] = []
        for (name, value) in filters.values {
            guard let column = section.conditions[name] else { continue }
            parameters.append(text: value)
            conditions.append("\(column) = $\(parameters.count)")
        }
        let filter = conditions.isEmpty ? "" : " where " + conditions.joined(separator: " and ")
        let isPaged = PageFilters.isPaged(filters.path)
        let (plain, active) = (section.links, acts ? section.acts : nil)
        var table = ViewTable(
            title: section.title, columns: section.columns, source: "\(section.from)\(filter) \(section.order)",
            limit: section.limit, offset: (filters.page - 1) * section.limit, isPaged: isPaged,
            empty: filters.page > 1
                ? "This page is empty." : conditions.isEmpty ? section.empty : "Nothing matches these filters.",
            example: conditions.isEmpty && filters.page == 1 ? section.example : nil)
        if plain != nil || active != nil {
            table.links = { row in (plain?(row) ?? []) + (active?(row) ?? []).map(ViewTable.RowLink.init) }
        }
        return table
    }

    func write(to html: inout HTML) {
        html.element("p", ["class": "question"], plan.question)
        if !plan.fields.isEmpty {
            FilterBar(
                path: path, fields: plan.fields, shown: plan.fields.count,
                values: filters.values.filter { value in plan.fields.contains { $0.name == value.0 } },
                suggestions: suggestions
            ).write(to: &html)
        }
        for (table, rows) in tables { table.write(rows, to: &html) }
        writePaging(to: &html)
        charts?.write(title: "Of this \(plan.charted ?? "")", to: &html)
    }

    /// The links to the other rows. Rows are ordered by urgency, which changes, so a row may move to another page.
    private func writePaging(to html: inout HTML) {
        let hasMore = PageFilters.isPaged(path) && tables.contains { $0.table.hasMore($0.rows) }
        guard hasMore || filters.page > 1 else { return }
        let others = filters.values.filter { $0.0 != "page" }
        func link(to page: Int, _ label: String, _ relation: String, _ html: inout HTML) {
            let arguments = page > 1 ? others + [("page", "\(page)")] : others
            html.element("a", ["href": Column.link(path, arguments), "rel": relation], label)
        }
        html.element("p", ["class": "paging"]) { html in
            html.element("span", "Page \(filters.page)")
            if filters.page > 1 { link(to: filters.page - 1, "Previous page", "prev", &html) }
            if hasMore { link(to: filters.page + 1, "Next page", "next", &html) }
        }
    }

    /// Links to pages about the named object: labels with paths. None without a name.
    static func links(_ name: String?, _ argument: String, _ pages: [(String, String)]) -> [ViewTable.RowLink] {
        guard let name else { return [] }
        return pages.map { ViewTable.RowLink($0.0, Column.link($0.1, [(argument, name)])) }
    }

    /// The pages by path.
    static let plans: [String: Plan] = [
        "/queues": queues, "/lanes": lanes, "/workers": workers, "/services": services, "/operations": operations,
        "/credentials": credentials, "/schedules": schedules, "/cache": cache, "/clients": clients,
    ]
}
