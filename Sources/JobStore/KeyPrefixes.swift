// SPDX-License-Identifier: Apache-2.0

/// The first part of a job's Idempotency-Key. Job ids repeat after a restore, so jobs that were inserted since then
/// have another one.
public struct KeyPrefixes: Sendable {
    private let installation: String
    /// In the order of the restores.
    private let restores: [(above: Int64, prefix: String)]

    /// What `enlist` returned.
    public init(installation: String, restores: [(above: Int64, prefix: String)] = []) {
        self.installation = installation
        self.restores = restores
    }

    /// The prefix of the last restore that the job was inserted after.
    public func prefix(of jobID: Int64) -> String {
        restores.last { $0.above < jobID }?.prefix ?? installation
    }
}
