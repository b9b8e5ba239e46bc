// SPDX-License-Identifier: Apache-2.0

@testable import JobModel
@testable import OpenAPI

/// An OpenAPI document, JSON or YAML, and the SQL that the import proposes.
enum DocumentTarget {
    static func run(_ input: [UInt8]) throws(Finding) {
        guard let api = try? ImportedAPI(input, service: "api") else { return }
        for operation in api.operations {
            let text = operation.row.text
            guard let again = try? JSONReader.read(Array(text.utf8)) else {
                throw Finding(description: "an operation is no JSON")
            }
            try expect(again.text == text, "an operation changes when it is read")
            try expect(!text.utf8.contains(0), "an operation has a NUL")
        }
        try check(api.proposal.sql)
    }

    /// A hostile document must add no statement to the proposal.
    private static func check(_ sql: String) throws(Finding) {
        for line in sql.split(separator: "\n", omittingEmptySubsequences: false) where !line.hasPrefix("-- ") {
            if line.isEmpty { continue }
            // A literal may hold line ends, so all lines are read together below.
            break
        }
        guard let skeleton = SQLLiteral.skeleton(withoutComments(sql)) else {
            throw Finding(description: "a literal of the proposal has no end")
        }
        let statements = skeleton.split(separator: ";").map { $0.drop { $0 == "\n" } }.filter { !$0.isEmpty }
        for statement in statements {
            let isKnown =
                statement.hasPrefix("insert into postrider.credentials (")
                || statement.hasPrefix("insert into postrider.services (")
            try expect(isKnown, "the proposal has a statement of the document: \(statement)")
            let rest = statement.drop { $0 != ")" }
            let allowed = " values(?,)\nE"
            try expect(rest.allSatisfy { allowed.contains($0) }, "the proposal has words of the document")
        }
        try expect(statements.count <= 2, "the proposal has \(statements.count) statements")
    }

    /// The text without the comments between statements. A comment begins on a line of its own.
    private static func withoutComments(_ sql: String) -> String {
        var out: [UInt8] = []
        var rest = Array(sql.utf8)[...]
        var isQuoted = false
        while let byte = rest.popFirst() {
            if byte == 0x27 { isQuoted.toggle() }
            if !isQuoted, byte == 0x2d, rest.first == 0x2d {
                rest = rest.drop { $0 != 0x0a }
            } else {
                out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}
