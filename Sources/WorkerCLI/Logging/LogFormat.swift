// SPDX-License-Identifier: Apache-2.0

/// How log lines look.
enum LogFormat: String, Sendable {
    /// For people.
    case text
    /// For programs: one JSON object a line.
    case json
}
