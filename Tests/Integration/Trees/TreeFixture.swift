// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Batches and chains for tests: a target, a database, and specs with a placeholder for the target.
class TreeFixture {
    let target: TargetServer
    let queue: TestQueue

    init() throws {
        target = try TargetServer()
        queue = try TestQueue()
    }

    /// Submits a spec in which URL stands for the target, and returns the root's id.
    func submit(_ spec: String) throws -> Int64 {
        try queue.submit(to: target, spec)
    }

    func member(_ name: String) throws -> Int64 {
        try queue.number("select id from postrider.jobs where name = '\(name)'")
    }
}
