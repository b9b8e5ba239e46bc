// SPDX-License-Identifier: Apache-2.0

public import JobModel

/// The first part of a job's Idempotency-Key, and the numbers of spans that depend on it. Job ids repeat after a
/// restore, so later jobs get another prefix.
public struct KeyPrefixes: Sendable {
    private struct Part: Sendable {
        var prefix: String
        /// Computed once, because its hash takes 2,400 instructions.
        var numbers: SpanNumbers

        init(_ prefix: String) {
            self.prefix = prefix
            numbers = SpanNumbers(prefix: prefix)
        }
    }

    private let installation: Part
    /// The prefixes in the order of the restores.
    private let restores: [(above: Int64, part: Part)]

    /// The prefixes that `enlist` returned.
    public init(installation: String, restores: [(above: Int64, prefix: String)] = []) {
        self.installation = Part(installation)
        self.restores = restores.map { ($0.above, Part($0.prefix)) }
    }

    /// The prefix of the last restore before the job was inserted.
    public func prefix(of jobID: Int64) -> String { part(of: jobID).prefix }

    /// The numbers of the spans and of the trace of a job.
    public func numbers(of jobID: Int64) -> SpanNumbers { part(of: jobID).numbers }

    private func part(of jobID: Int64) -> Part {
        restores.last { $0.above < jobID }?.part ?? installation
    }
}
