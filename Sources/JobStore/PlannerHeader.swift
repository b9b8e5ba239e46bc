// SPDX-License-Identifier: Apache-2.0

internal import Migrations

/// The planner settings of a function, which the file declares by a line such as `-- planner: no-jit, no-seqscan`.
///
/// The reasons are the same for all functions that have a setting, so they stand here, and each file has one line:
///
/// - `no-jit`: estimates grow with the queue, and from a certain cost PostgreSQL would compile each plan for seconds.
/// - `generic-plans`: the plan for any parameters is as good, and it is made once in a session.
/// - `custom-plans`: the plan depends on a parameter, such as the size of an array.
/// - `no-seqscan`, `no-bitmapscan`: statistics of a queue are out of date, and an index is right for each size.
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

    /// The line of a function behind which its settings are set.
    private static let anchor = Array("set search_path = pg_catalog, pg_temp\n".utf8)

    /// The file as it is applied: each word of its header stands as `set` lines in the function.
    ///
    /// - Throws: `files` for a word that means nothing, and for a file that has no function to set something for.
    static func expanded(_ file: MigrationFile) throws(StoreError) -> MigrationFile {
        let words = MigrationOrder.header(file, "planner")
        guard !words.isEmpty else { return file }
        var lines: [UInt8] = []
        for word in words {
            guard let settings = meanings[word] else {
                let known = meanings.keys.sorted().joined(separator: ", ")
                throw StoreError(.files, "\(file.name): no planner setting is named \(word); there are \(known)")
            }
            for setting in settings { lines += "set \(setting)\n".utf8 }
        }
        guard let place = file.bytes.firstRange(of: anchor)?.upperBound else {
            throw StoreError(.files, "\(file.name): a planner header needs a function with a search_path")
        }
        return MigrationFile(name: file.name, bytes: file.bytes[..<place] + lines + file.bytes[place...])
    }
}
