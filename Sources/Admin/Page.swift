// SPDX-License-Identifier: Apache-2.0

/// What a reader gets.
struct Page: Equatable, Sendable {
    /// The status of HTTP.
    var status: UInt32
    /// The Content-Type.
    var type = "text/plain; charset=utf-8"
    /// The whole of it.
    var body: String
}
