// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// What one run of `worker doctor` has said.
struct DoctorReport: CustomStringConvertible {
    let status: Int32
    let description: String

    init(_ database: String, _ words: [String] = [], _ environment: [String: String] = [:]) throws {
        let outcome = try WorkerProcess.run(["doctor", "--database", database] + words, environment)
        status = outcome.status
        description = outcome.output
    }

    /// The line of a subject, its grade first and single spaces between; empty if there is none.
    subscript(_ subject: String) -> String {
        let line = description.split(separator: "\n").first { $0.dropFirst(8).hasPrefix("\(subject) ") } ?? ""
        return line.split(separator: " ").joined(separator: " ")
    }
}
