// SPDX-License-Identifier: Apache-2.0

/// The first part of a job's Idempotency-Key. Job ids repeat after a restore, so later jobs get another prefix.
public struct KeyPrefixes: Sendable {
    private let installation: String
    /// The prefixes in the order of the restores.
    private let restores: [(above: Int64, prefix: String)]

    /// The prefixes that `enlist` returned.
    public init(installation: String, restores: [(above: Int64, prefix: String)] = []) {
        self.installation = installation
        self.restores = restores
    }

    /// The prefix of the last restore before the job was inserted.
    public func prefix(of jobID: Int64) -> String {
        restores.last { $0.above < jobID }?.prefix ?? installation
    }
}
