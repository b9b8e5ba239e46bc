// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Batches and chains for tests: a target, a database, and specs that name the target by a word.
class TreeFixture {
    let target: TargetServer
    let queue: TestQueue

    /// With a target and a database of its own.
    init() throws {
        target = try TargetServer()
        queue = try TestQueue()
    }

    /// Submits a spec in which URL stands for the target; the root's id.
    func submit(_ spec: String) throws -> Int64 {
        try queue.number("select postrider.submit('\(spec.split(separator: "URL").joined(separator: target.url))')")
    }

    /// The id of the job of this name.
    func member(_ name: String) throws -> Int64 {
        try queue.number("select id from postrider.jobs where name = '\(name)'")
    }
}
