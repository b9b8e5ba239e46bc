// SPDX-License-Identifier: Apache-2.0

internal import PGClient

/// An answer of 30,000 numbers, and an expression that takes hours over it.
public enum ExpensiveAnswer {
    /// Compares each number with each other, in three nested loops.
    public static let expression = "$[*] ? (exists($[*] ? (exists($[*] ? (@ == 3)))))"
    /// The answer's body: a JSON array.
    public static let list = "[" + Array(repeating: "1", count: 30_000).joined(separator: ",") + "]"

    /// A server that gives this answer below `/large`, and a small one elsewhere.
    public static func target() throws -> TargetServer {
        try TargetServer { request in TargetStep.answer(200, request.path.hasPrefix("/large") ? list : "{\"a\": 1}") }
    }

    /// A queue with a shorter limit for expressions than the default, because the tests have many such answers.
    public static func queue(_ limit: String = "300 ms") throws -> TestQueue {
        let queue = try TestQueue()
        try queue.connection.execute("update postrider.settings set judge_timeout = '\(limit)'")
        return queue
    }
}
