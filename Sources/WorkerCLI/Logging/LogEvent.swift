// SPDX-License-Identifier: Apache-2.0

/// One log line. It never contains a secret, a body or a connection string.
struct LogEvent: Equatable, Sendable {
    /// The severity.
    enum Level: String, Sendable {
        /// Normal operation.
        case info
        /// An operator should check it. The worker continues.
        case warning
        /// The database refused to store a job's result. The worker continues.
        case error
    }

    /// One value of a line.
    enum Value: Equatable, Sendable {
        /// Any text. It is escaped when it is written.
        case text(String)
        /// A whole number.
        case number(Int)
    }

    /// The severity.
    var level: Level
    /// The name of the event, in lower case with underscores: `worker_started`.
    var name: String
    /// The fields in order.
    var fields: [(key: String, value: Value)]

    init(_ level: Level, _ name: String, _ fields: [(key: String, value: Value)] = []) {
        self.level = level
        self.name = name
        self.fields = fields
    }

    static func == (left: LogEvent, right: LogEvent) -> Bool {
        left.level == right.level && left.name == right.name && left.fields.elementsEqual(right.fields, by: ==)
    }
}
