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
}
