// SPDX-License-Identifier: Apache-2.0

/// One line of `worker doctor` or `worker audit`.
struct Finding: Equatable, Sendable {
    /// The severity.
    enum Grade: String, Sendable {
        /// Correct.
        case ok
        /// Calls are made, but an operator should check it.
        case notice
        /// Doctor: a worker does not start, or jobs do not end, until it is repaired. Audit: an input ended wrongly.
        case fault

        /// Its colour on a terminal.
        var colour: Palette.Colour {
            switch self {
            case .ok: .green
            case .notice: .yellow
            case .fault: .red
            }
        }
    }

    var grade: Grade
    /// The checked subject, in one or two words.
    var subject: String
    /// The result and, unless it is correct, the remedy.
    var text: String

    init(_ grade: Grade, _ subject: String, _ text: String) {
        self.grade = grade
        self.subject = subject
        self.text = text
    }
}
