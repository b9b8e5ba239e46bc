// SPDX-License-Identifier: Apache-2.0

internal import Migrations

/// The planner settings of a function. Its file declares them by a line such as `-- planner: no-jit, no-seqscan`.
///
/// Each setting has the same reason in all functions:
///
/// - `no-jit`: estimates grow with the queue. From a certain cost on PostgreSQL would compile each plan for seconds.
/// - `generic-plans`: one plan fits all parameters, and it is made once in a session.
/// - `custom-plans`: the plan depends on a parameter, such as the size of an array.
/// - `no-seqscan`, `no-bitmapscan`: statistics of a queue are out of date, and an index fits each size.
/// - `nested-loops`: no hash or merge join, for the same reason.
enum PlannerHeader {
    private static let meanings: [String: [String]] = [
        "no-jit": ["jit = off"],
        "generic-plans": ["plan_cache_mode = force_generic_plan"],
        "custom-plans": ["plan_cache_mode = force_custom_plan"],
        "no-seqscan": ["enable_seqscan = off"],
        "no-bitmapscan": ["enable_bitmapscan = off"],
        "nested-loops": ["enable_hashjoin = off", "enable_mergejoin = off"],
    ]

    /// The settings follow this line of the function.
    private static let anchor = Array("set search_path = pg_catalog, pg_temp\n".utf8)

    /// The file as it is applied: each word of its header becomes `set` lines of the function.
    ///
    /// - Throws: `files` for an unknown word, and for a file without such a function.
    static func expanded(_ file: MigrationFile) throws(StoreError) -> MigrationFile {
        let words = MigrationOrder.header(file, "planner")
        guard !words.isEmpty else { return file }
        var lines: [UInt8] = []
        for word in words {
            guard let settings = meanings[word] else {
                let known = meanings.keys.sorted().joined(separator: ", ")
                throw StoreError(.files, "\(file.name): unknown planner setting \(word); give one of \(known)")
            }
            for setting in settings { lines += "set \(setting)\n".utf8 }
        }
        guard let place = file.bytes.firstRange(of: anchor)?.upperBound else {
            throw StoreError(.files, "\(file.name): a planner header needs a function with a search_path")
        }
        return MigrationFile(name: file.name, bytes: file.bytes[..<place] + lines + file.bytes[place...])
    }
}
