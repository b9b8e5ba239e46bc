// SPDX-License-Identifier: Apache-2.0

/// The format of log lines.
enum LogFormat: String, Sendable {
    /// For people.
    case text
    /// For programs: one JSON object per line.
    case json
}
