// SPDX-License-Identifier: Apache-2.0

internal import JobModel

/// The frame of every page of the dashboard.
enum Shell {
    /// The entries of the menu: path and name.
    private static let menu: KeyValuePairs<String, String> = [
        "/": "Overview", "/jobs": "Jobs", "/failures": "Failures", "/queues": "Queues", "/lanes": "Lanes",
        "/services": "Services", "/operations": "Operations", "/credentials": "Credentials",
        "/schedules": "Schedules", "/workers": "Workers", "/cache": "Cache", "/clients": "Clients", "/log": "Log",
    ]

    /// A whole document.
    ///
    /// - Parameters:
    ///   - path: the menu entry of the page.
    ///   - isLive: whether the page is refreshed while it is open.
    ///   - acts: whether an admin may act here (`--http-actions`).
    static func page(
        status: UInt32 = 200, title: String, path: String, isLive: Bool, acts: Bool = false,
        _ content: (inout HTML) -> Void
    ) -> AdminResponse {
        var html = HTML()
        html.doctype()
        html.element("html", ["lang": "en"]) { html in
            html.element("head") { html in
                html.open("meta", ["charset": "utf-8"])
                html.open("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
                html.element("title", "\(title) · Postrider")
                html.open("link", ["rel": "icon", "href": "data:,"])
                html.open("link", ["rel": "stylesheet", "href": "/dashboard.css"])
                html.element("script", ["src": "/dashboard.js", "defer": ""], "")
            }
            html.element("body") { html in
                header(path, &html)
                html.element("main", isLive ? ["id": "main", "data-live": ""] : ["id": "main"]) { html in
                    html.element("h1", title)
                    content(&html)
                }
                html.element("footer", "Postrider \(ProductVersion.current). \(acts ? actsNote : readOnlyNote)")
            }
        }
        return AdminResponse(status: status, type: "text/html; charset=utf-8", body: html.markup)
    }

    private static let readOnlyNote =
        "Read only: change jobs with SQL or the worker command, or start the worker with --http-actions."
    private static let actsNote = "Each act is confirmed first and kept in the log."

    private static func header(_ path: String, _ html: inout HTML) {
        html.element("a", ["class": "skip", "href": "#main"], "Skip to the content")
        html.element("header") { html in
            html.element("strong", "Postrider")
            html.element("nav", ["aria-label": "pages"]) { html in
                for (place, name) in menu {
                    let isHere = place == path
                    html.element("a", isHere ? ["href": place, "aria-current": "page"] : ["href": place], name)
                }
            }
            html.element("form", ["action": "/jobs", "role": "search"]) { html in
                html.open(
                    "input",
                    [
                        "name": "id", "placeholder": "job id", "aria-label": "job id", "inputmode": "numeric",
                        "pattern": "[0-9]+", "required": "",
                    ])
            }
        }
    }
}
