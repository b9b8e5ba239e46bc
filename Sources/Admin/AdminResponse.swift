// SPDX-License-Identifier: Apache-2.0

/// The HTTP response of the admin server to one request: health, metrics or a page of the dashboard.
struct AdminResponse: Equatable, Sendable {
    /// The HTTP status.
    var status: UInt32
    /// The Content-Type.
    var type = "text/plain; charset=utf-8"
    /// The whole body.
    var body: String
    /// The path of a redirect, on this server.
    var location: String?
    /// The whole body of a file; nil: `body` applies.
    var bytes: [UInt8]?
    /// The name under which a browser saves the body; nil: it shows the body. It has letters, digits, dots and hyphens.
    var filename: String?
}
