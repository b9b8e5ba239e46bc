// SPDX-License-Identifier: Apache-2.0

@testable import JobModel
@testable import WorkerCLI

/// A command of curl as a job: its words, its options, and the INSERT.
enum CurlTarget {
    static func run(_ input: [UInt8]) throws(Finding) {
        let text = String(decoding: input, as: UTF8.self)
        let sql: String
        do throws(CommandError) {
            let line = try CurlLine(text) { (path: String) throws(CommandError) -> [UInt8] in Array(path.utf8) }
            sql = try CurlInsert.sql(line)
        } catch {
            try expect(error.exit == .usage, "an error that is no usage error: \(error.message)")
            return
        }
        try check(sql)
    }

    /// Behind its literals the statement has only words, commas, parentheses and numbers of its own.
    private static func check(_ sql: String) throws(Finding) {
        guard let skeleton = SQLLiteral.skeleton(sql) else { throw Finding(description: "a literal has no end") }
        let known: Set<String> = [
            "insert", "into", "postrider", "jobs", "method", "url", "headers", "body", "body_parts", "timeout",
            "max_redirects", "values", "returning", "id", "convert_to", "decode", "E", "",
        ]
        let words = skeleton.split { !($0.isASCII && ($0.isLetter || $0 == "_")) && !($0.asciiValue == nil) }
        for word in words { try expect(known.contains(String(word)), "the statement has the word \(word)") }
        try expect(!skeleton.contains(";") && !skeleton.contains("--"), "the statement ends early")
    }
}
