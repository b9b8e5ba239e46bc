// SPDX-License-Identifier: Apache-2.0

import Foundation
import PGClient
import TestSupport
import Testing

/// The kept inputs of the SQL functions that parse outside texts. `SQL.txt` has the statements and their errors.
struct SQLReplayTests {
    struct Target: CustomTestStringConvertible {
        let name: String
        let allowed: Set<String>
        let statement: String
        var testDescription: String { name }
    }

    static let targets: [Target] = {
        guard let folder = try? ProjectFolder.path(),
            let text = try? String(contentsOfFile: folder + "/Tests/Fuzz/SQL.txt", encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let words = line.split(separator: " ", maxSplits: 2)
            let json = String(words[2]).replacing(#/\bjson\((?<place>\$\d)\)/#) {
                "postrider_internal.try_jsonb(convert_to(\($0.place), 'UTF8'))"
            }
            return Target(
                name: String(words[0]), allowed: Set(words[1].split(separator: ",").map(String.init)),
                statement: json.replacing(#/\$\d/#) { "\($0.output)::text" })
        }
    }()

    @Test(arguments: targets)
    func `each kept input ends with a result or an allowed error`(target: Target) throws {
        let queue = try TestQueue(sharedBy: "SQLReplayTests")
        let path = try ProjectFolder.path() + "/Tests/Fuzz/Corpus/sql/\(target.name).jsonl"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            let words = try JSONDecoder().decode([String].self, from: Data(line.utf8))
            try queue.connection.execute("begin")
            var parameters = PGParameters()
            for word in words { parameters.append(text: word) }
            do throws(PGError) {
                _ = try queue.connection.query(target.statement, &parameters)
            } catch {
                let state = error.sqlState?.rawValue ?? ""
                #expect(target.allowed.contains(state), "\(line): \(state) \(error.message)")
            }
            try queue.connection.execute("rollback")
        }
    }
}
