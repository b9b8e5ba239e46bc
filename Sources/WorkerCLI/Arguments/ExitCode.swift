// SPDX-License-Identifier: Apache-2.0

/// How the program ends; the numbers are those of `sysexits.h`.
public enum ExitCode: Int32, Sendable {
    /// All went well, or a signal asked for the end and the drain was clean.
    case clean = 0
    /// What was watched has ended, and not well; or doctor or audit has found a fault.
    case failed = 1
    /// The command line, a setting or the input cannot be meant that way.
    case usage = 64
    /// PostgreSQL cannot be reached.
    case unreachable = 69
    /// Something that should not happen happened.
    case internalError = 70
    /// The schema is missing, older or newer than this worker understands.
    case schema = 78
}
