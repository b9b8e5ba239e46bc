// SPDX-License-Identifier: Apache-2.0

/// The answer to a reader.
struct Page: Equatable, Sendable {
    /// The HTTP status.
    var status: UInt32
    /// The Content-Type.
    var type = "text/plain; charset=utf-8"
    /// The whole body.
    var body: String
}
