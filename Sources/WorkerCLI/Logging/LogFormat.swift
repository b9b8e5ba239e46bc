// SPDX-License-Identifier: Apache-2.0

enum LogFormat: String, Sendable {
    /// For people.
    case text
    /// For programs: one JSON object per line.
    case json
}
