// SPDX-License-Identifier: Apache-2.0

/// The exit codes of the program, with the numbers of `sysexits.h`.
public enum ExitCode: Int32, Sendable {
    /// Success, or a clean drain after a signal.
    case clean = 0
    /// The watched job did not succeed, doctor or audit has found a fault, or the user answered no. A signal that ends a
    /// watch, an audit or a retry gives it too.
    case failed = 1
    /// The command line, a setting or the input is invalid.
    case usage = 64
    /// PostgreSQL cannot be reached.
    case unreachable = 69
    /// An internal error, or a stop in which the worker could not sign off in time.
    case internalError = 70
    /// The schema is missing, or older or newer than this worker supports.
    case schema = 78
}
