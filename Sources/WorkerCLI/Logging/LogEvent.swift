// SPDX-License-Identifier: Apache-2.0

/// One thing that happened: a line of the log. Never holds a secret, a body or a connection string.
struct LogEvent: Equatable, Sendable {
    /// How much it matters.
    enum Level: String, Sendable {
        /// Part of the normal course.
        case info
        /// Something to look at; the worker goes on by itself.
        case warning
        /// The worker cannot go on.
        case error
    }

    /// One value of a line.
    enum Value: Equatable, Sendable {
        /// Any text; escaped when written.
        case text(String)
        /// A whole number.
        case number(Int)
    }

    /// How much it matters.
    var level: Level
    /// What happened, in lower case with underscores: `worker_started`.
    var name: String
    /// The rest, in order.
    var fields: [(key: String, value: Value)]

    /// An event with its fields.
    init(_ level: Level, _ name: String, _ fields: [(key: String, value: Value)] = []) {
        self.level = level
        self.name = name
        self.fields = fields
    }

    /// Compares all parts.
    static func == (left: LogEvent, right: LogEvent) -> Bool {
        left.level == right.level && left.name == right.name && left.fields.elementsEqual(right.fields, by: ==)
    }
}
