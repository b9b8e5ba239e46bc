// SPDX-License-Identifier: Apache-2.0

internal import PrivateCluster

/// Runs psql, PostgreSQL's interactive client.
public enum Psql {
    /// Runs a script up to its first error. Returns the exit status and the output.
    public static func run(_ script: String, on database: String) throws -> WorkerProcess.Outcome {
        let psql = try ServerBinaries.find().path("psql")
        return try WorkerProcess.run([psql, "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", database], reading: script)
    }
}
