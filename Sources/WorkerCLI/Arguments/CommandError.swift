// SPDX-License-Identifier: Apache-2.0

internal import JobStore
internal import PGClient

/// Why a command ends early: an exit code and one line for the user.
///
/// The line names the defect, the reason and a valid value. It contains no secret.
struct CommandError: Error, Equatable {
    var exit: ExitCode
    /// One line, without the program's name.
    var message: String

    init(_ exit: ExitCode, _ message: String) {
        self.exit = exit
        self.message = message
    }

    /// A usage error such as `--concurrency: "x" is not a whole number; give 1 to 10000, like --concurrency 8`.
    static func usage(_ place: String, _ reason: String, _ remedy: String) -> CommandError {
        CommandError(.usage, "\(place): \(reason); \(remedy)")
    }
}
