// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// The report of one run of `worker doctor`.
struct DoctorReport: CustomStringConvertible {
    let status: Int32
    let description: String

    init(_ database: String, _ words: [String] = [], _ environment: [String: String] = [:]) throws {
        let outcome = try WorkerProcess.run(["doctor", "--database", database] + words, environment)
        status = outcome.status
        description = outcome.output
    }

    /// The line about a subject: its grade first, single spaces between words. Empty if the line is missing.
    subscript(_ subject: String) -> String {
        let line = description.split(separator: "\n").first { $0.dropFirst(8).hasPrefix("\(subject) ") } ?? ""
        return line.split(separator: " ").joined(separator: " ")
    }
}
