// SPDX-License-Identifier: Apache-2.0

import Foundation
import Migrations
import TestSupport
import Testing

/// Each folder of `migrations/functions` has a README that names its entry points.
struct FunctionFolderTests {
    private struct Folder {
        var name: String
        var readme: String
        /// The functions in the folder.
        var functions: Set<String>
    }

    private static func folders() throws -> [Folder] {
        let top = try ProjectFolder.path() + "/migrations/functions"
        var functions: [String: Set<String>] = [:]
        for file in Migrations.all where file.kind == .function {
            let parts = file.name.split(separator: "/")
            functions[String(parts[1]), default: []].insert(String(parts[2].dropLast(4)))
        }
        return try functions.map { name, members in
            Folder(
                name: name, readme: try String(contentsOfFile: "\(top)/\(name)/README.md", encoding: .utf8),
                functions: members)
        }
    }

    /// The names in backticks after `- called by USER:`.
    private static func entries(_ readme: String, by caller: String) -> Set<String> {
        guard let start = readme.range(of: "- called by \(caller): ") else { return [] }
        let list = readme[start.upperBound...].prefix { $0 != "-" }
        return Set(list.matches(of: /`(\w+)`/).map { String($0.output.1) })
    }

    @Test func `a folder's README has at most 25 lines and names only existing functions and tables`() throws {
        let texts = Migrations.all.map { String(decoding: $0.bytes, as: UTF8.self) }
        let relation = /create (?:or replace )?(?:unlogged )?(?:table|view|sequence) postrider\w*\.(\w+)/
        let relations = Set(texts.flatMap { $0.matches(of: relation).map { String($0.output.1) } })
        let folders = try Self.folders()
        let functions = folders.reduce(into: Set<String>()) { $0.formUnion($1.functions) }
        for folder in folders {
            #expect(
                folder.readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 26, "\(folder.name)")
            let tables = Set(
                folder.readme.components(separatedBy: "Tables that it writes:").dropFirst().flatMap { text in
                    text.prefix { $0 != "." }.matches(of: /`(\w+)`/).map { String($0.output.1) }
                })
            #expect(tables.subtracting(relations) == [], "\(folder.name)")
            let named = Set(["users", "workers", "triggers"].flatMap { Self.entries(folder.readme, by: $0) })
            #expect(named.subtracting(folder.functions) == [], "\(folder.name)")
            let words = Set(folder.readme.matches(of: /`([a-z]+_[a-z_]+)`/).map { String($0.output.1) })
            #expect(words.subtracting(functions).subtracting(relations).subtracting(["run_if"]) == [], "\(folder.name)")
        }
    }

    @Test func `a README lists each function that workers, users or triggers call`() throws {
        let swift = try ProjectFolder.swiftSources().joined()
        let called = Set(swift.matches(of: /postrider\w*\.(\w+)\(/).map { String($0.output.1) })
        var triggers: Set<String> = []
        var forUsers: Set<String> = []
        for file in Migrations.all {
            let text = String(decoding: file.bytes, as: UTF8.self)
            if file.kind == .function, text.contains("create or replace function postrider.") {
                forUsers.insert(String(file.name.split(separator: "/")[2].dropLast(4)))
            }
            triggers.formUnion(text.matches(of: /execute function postrider\w*\.(\w+)/).map { String($0.output.1) })
        }
        for folder in try Self.folders() {
            let users = Self.entries(folder.readme, by: "users")
            #expect(users == forUsers.intersection(folder.functions), "\(folder.name)")
            #expect(
                Self.entries(folder.readme, by: "workers") == called.intersection(folder.functions).subtracting(users),
                "\(folder.name)")
            #expect(
                Self.entries(folder.readme, by: "triggers") == triggers.intersection(folder.functions), "\(folder.name)"
            )
        }
    }

    /// The functions that the body of each function calls. Comments and string literals do not count. A regular
    /// expression would take half a minute in a debug build.
    private static func calls() -> [String: Set<String>] {
        var calls: [String: Set<String>] = [:]
        for file in Migrations.all where file.kind == .function {
            let text = String(decoding: file.bytes, as: UTF8.self).components(separatedBy: "\ncomment on")[0]
            let begin = ["as $$", "\nreturn ", "begin atomic"].compactMap { text.range(of: $0) }.map(\.upperBound).min()
            let lines = text[(begin ?? text.endIndex)...].components(separatedBy: "\n").map { line in
                guard let comment = line.range(of: "--") else { return Substring(line) }
                let code = line[..<comment.lowerBound]
                return code.count { $0 == "'" } % 2 == 0 ? code : Substring(line)
            }
            let code = lines.joined(separator: "\n").components(separatedBy: "'").enumerated()
                .filter { $0.offset % 2 == 0 }.map(\.element).joined(separator: "''")
            for part in ["postrider_internal.", "postrider."].flatMap({ code.components(separatedBy: $0).dropFirst() })
            {
                let name = part.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                if part[name.endIndex...].hasPrefix("(") {
                    calls[String(file.name.split(separator: "/")[2].dropLast(4)), default: []].insert(String(name))
                }
            }
        }
        return calls
    }

    /// The end of a tree may begin or end other trees. They go through the lists of `count_ended_members`, `advance_tree`
    /// and `end_descendants`, so no function of this folder is called again below itself.
    @Test func `no function for batches and chains calls back into one of its callers`() throws {
        let calls = Self.calls()
        let trees = try #require(try Self.folders().first { $0.name == "trees" }).functions
        #expect(calls["count_ended_members"]?.contains("count_in_tree") == true)
        // These three walk down a tree.
        let recursive: Set = ["reset_tree", "step_object", "tree_results"]
        #expect(trees.filter { calls[$0]?.contains($0) == true } == recursive)
        for function in trees {
            var reached: Set<String> = []
            var open = calls[function, default: []].subtracting([function])
            while let next = open.popFirst() {
                reached.insert(next)
                open.formUnion(calls[next, default: []].subtracting(reached))
            }
            #expect(!reached.contains(function), "\(function)")
        }
    }
}
