// SPDX-License-Identifier: Apache-2.0

/// One page of the dashboard. Its data is read from the database before it is written.
protocol DashboardPage: Sendable {
    /// Its headline.
    var title: String { get }
    /// The path of its menu entry.
    var path: String { get }
    /// Whether it is refreshed while it is open.
    var isLive: Bool { get }
    /// 200, or 404 if the object does not exist.
    var status: UInt32 { get }

    /// A file that is sent instead of a page; nil: the page.
    var file: AdminResponse? { get }

    /// Adds the content below the headline.
    func write(to html: inout HTML)
}

extension DashboardPage {
    var isLive: Bool { true }
    var status: UInt32 { 200 }
    var file: AdminResponse? { nil }
}
