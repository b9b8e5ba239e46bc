// SPDX-License-Identifier: Apache-2.0

/// One page of the dashboard, read from the database and ready to be written.
protocol DashboardPage: Sendable {
    /// Its headline.
    var title: String { get }
    /// Its place in the menu.
    var path: String { get }
    /// Whether it changes while somebody looks at it.
    var isLive: Bool { get }
    /// 200, or 404 for what is not there.
    var status: UInt32 { get }

    /// Adds all below the headline.
    func write(to html: inout HTML)
}

extension DashboardPage {
    var isLive: Bool { true }
    var status: UInt32 { 200 }
}
