// SPDX-License-Identifier: Apache-2.0

/// One line of `worker doctor` or `worker audit`.
struct Finding: Equatable, Sendable {
    /// How bad it is.
    enum Grade: String, Sendable {
        /// As it should be.
        case ok
        /// Calls are made, but somebody should look.
        case notice
        /// A worker does not start, or jobs do not end, until it is mended.
        case fault
    }

    var grade: Grade
    /// What was looked at, in one or two words.
    var subject: String
    /// What was found and, unless all is well, what mends it.
    var text: String

    init(_ grade: Grade, _ subject: String, _ text: String) {
        self.grade = grade
        self.subject = subject
        self.text = text
    }
}
