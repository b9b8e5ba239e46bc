// SPDX-License-Identifier: Apache-2.0

internal import PrivateCluster

/// The client that users type into.
public enum Psql {
    /// Runs a script as a role, up to its first error; the exit status and all that it printed.
    public static func run(_ script: String, on database: String) throws -> WorkerProcess.Outcome {
        let psql = try ServerBinaries.find().path("psql")
        return try WorkerProcess.run([psql, "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", database], reading: script)
    }
}
