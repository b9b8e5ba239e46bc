// SPDX-License-Identifier: Apache-2.0

internal import Migrations

/// The order in which files are applied: numbered, functions, views. Each kind is sorted by name, unless a header
/// differs.
enum MigrationOrder {
    /// Sorts the files, and expands them as they are applied (see `PlannerHeader`).
    ///
    /// A line `-- after: insert/a.sql, queue/b.sql` among the leading comments puts a file after others of its kind. A
    /// function with `-- after: views/c.sql` is applied among the views, because it returns rows of that view.
    ///
    /// - Throws: `files` for an unknown name, a cycle, a duplicate name or a bad planner header.
    static func sorted(_ files: [MigrationFile]) throws(StoreError) -> [MigrationFile] {
        if Set(files.map(\.name)).count != files.count {
            throw StoreError(.files, "two migration files have the same name")
        }
        var ordered: [MigrationFile] = []
        for kind in [MigrationFile.Kind.numbered, .function, .view] {
            var waiting = files.filter { stage(of: $0) == kind }.sorted { $0.name < $1.name }
            let names = Set(waiting.map(\.name))
            let before = Dictionary(uniqueKeysWithValues: waiting.map { ($0.name, after($0)) })
            var placed: Set<String> = []
            for file in waiting {
                if let missing = before[file.name]?.first(where: { !names.contains($0) }) {
                    throw StoreError(.files, "\(file.name): its after header names \(missing), which does not exist")
                }
            }
            while !waiting.isEmpty {
                guard let next = waiting.firstIndex(where: { placed.isSuperset(of: before[$0.name] ?? []) }) else {
                    throw StoreError(.files, "\(waiting[0].name): its after header is part of a cycle")
                }
                placed.insert(waiting[next].name)
                ordered.append(try PlannerHeader.expanded(waiting.remove(at: next)))
            }
        }
        return ordered
    }

    /// Whether workers that do not know this file must stop. True, unless it has a line `-- breaking: no`.
    static func isBreaking(_ file: MigrationFile) -> Bool {
        file.kind == .numbered && header(file, "breaking").first != "no"
    }

    /// The files that must precede this one. The header names them without the top folder, `functions` or `views`. Only
    /// a function that follows views names that folder.
    private static func after(_ file: MigrationFile) -> [String] {
        let top = file.name.split(separator: "/").dropLast().first.map { $0 + "/" } ?? ""
        return header(file, "after").map { $0.hasPrefix("views/") ? $0 : top + $0 }
    }

    /// The kind of files among which a file is applied.
    private static func stage(of file: MigrationFile) -> MigrationFile.Kind {
        after(file).contains { $0.hasPrefix("views/") } ? .view : file.kind
    }

    /// The words after `-- key:` in the comment that opens the file.
    static func header(_ file: MigrationFile, _ key: String) -> [String] {
        // Reads bytes, and only the leading comment, because each start of a worker reads the headers of 500 files.
        var rest = file.bytes[...]
        while let first = rest.firstIndex(where: { $0 != UInt8(ascii: "\n") }), rest[first...].starts(with: "--".utf8) {
            let end = rest[first...].firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            if rest[first..<end].starts(with: "-- \(key):".utf8) {
                let words = String(decoding: rest[(first + key.utf8.count + 4)..<end], as: UTF8.self)
                return words.split { $0 == "," || $0 == " " }.map(String.init)
            }
            rest = rest[end...]
        }
        return []
    }
}
