// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// The dashboard shows the views to people. It changes nothing.
struct Dashboard: Sendable {
    private let database: ReadOnlyDatabase
    /// Whether pages show links to acts (`--http-actions`).
    let actsAllowed: Bool

    /// How often a reader checks whether another one has finished: 100 times in 1 s. Then it gets a 503, because
    /// threads are few.
    private static let waits = 100

    init(_ database: ReadOnlyDatabase, actsAllowed: Bool = false) {
        self.database = database
        self.actsAllowed = actsAllowed
    }

    /// The page at a path. 404 if it does not exist, 503 with a reason while the database does not answer.
    func response(to request: AdminRequest) -> AdminResponse {
        switch request.path {
        case "/dashboard.css": return Dashboard.asset(PackageResources.dashboard_css, "text/css; charset=utf-8")
        case "/dashboard.js": return Dashboard.asset(PackageResources.dashboard_js, "text/javascript; charset=utf-8")
        default: break
        }
        // .none: another reader has not finished. .some(.none): there is no such page.
        let found: (any DashboardPage)??
        do throws(PGError) {
            found = try database.read(waits: Dashboard.waits) { connection throws(PGError) in
                try Dashboard.find(request, acts: actsAllowed, connection)
            }
        } catch {
            return unavailable(request.path, Dashboard.reason(error))
        }
        switch found {
        case .none: return unavailable(request.path, "earlier requests still wait for it")
        case .some(.none):
            return Shell.page(status: 404, title: "No such page", path: "", isLive: false, acts: actsAllowed) { html in
                write(PageFilters.defects(request), to: &html)
                html.element("p", "There is no page at this address. Choose a page from the menu.")
            }
        case .some(.some(let page)):
            if let file = page.file { return file }
            return Shell.page(
                status: page.status, title: page.title, path: page.path, isLive: page.isLive, acts: actsAllowed
            ) {
                write(PageFilters.defects(request), to: &$0)
                page.write(to: &$0)
            }
        }
    }

    /// Reads the page at the path of the request. Nil if there is no such page.
    private static func find(
        _ request: AdminRequest, acts: Bool, _ connection: borrowing PGConnection
    ) throws(PGError) -> (any DashboardPage)? {
        let filters = PageFilters(request)
        switch request.path {
        case "/": return try OverviewPage(filters, acts: acts, connection)
        case "/jobs":
            guard let id = request.arguments["id"] else { return try JobsPage(filters, acts: acts, connection) }
            return try JobRoute.page("/jobs/\(id)", acts: acts, connection)
        case "/failures": return try FailuresPage(filters, acts: acts, connection)
        case "/log": return try LogPage(filters, acts: acts, connection)
        case let path where path.hasPrefix("/jobs/"): return try JobRoute.page(path, acts: acts, connection)
        default: return try ListPage(request.path, filters, acts: acts, connection)
        }
    }

    private func write(_ defects: [String], to html: inout HTML) {
        for defect in defects { html.element("p", ["class": "why trouble"], defect) }
    }

    private func unavailable(_ path: String, _ reason: String) -> AdminResponse {
        Shell.page(status: 503, title: "Database unavailable", path: path, isLive: true, acts: actsAllowed) { html in
            html.element("p", ["class": "why trouble"], "The database does not answer: \(reason).")
            for sentence in Dashboard.outage { html.element("p", sentence) }
        }
    }

    /// The meaning of an outage, for a person who sees it for the first time.
    private static let outage = [
        "Start PostgreSQL, or repair the network between it and this worker. The dashboard cannot do this.",
        "No job is lost. Calls in flight go on, and workers keep their answers until they can store them. "
            + "No new call begins.",
        "Workers connect again without help. This page is read again every five seconds, and then shows what is left to do.",
    ]

    /// The reason that readers may see. libpq's message about a lost connection names hosts and users, so only the
    /// worker's log has it.
    private static func reason(_ error: PGError) -> String {
        switch error.code {
        case .server: error.message
        default: "it cannot be reached"
        }
    }

    private static func asset(_ bytes: [UInt8], _ type: String) -> AdminResponse {
        AdminResponse(status: 200, type: type, body: String(decoding: bytes, as: UTF8.self))
    }
}
